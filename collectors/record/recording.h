/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing notes down as the files of a recording. What cannot be read is a directory there: as
 * unreadable as it was, and no other kind of file is safe to leave behind; recorded/unreadable says
 * why.
 *
 * Another user may be able to write to the directory, and a recorded machine may call its devices
 * as it likes. So files are new ones, no link is followed, and a path that is not plain
 * (rna/base/beneath.h) is only listed as unreadable, by EINVAL. What is in the way fails the
 * recording.
 */
#pragma once

#include "rna/record.h"

#include "notes.h"

/*
 * Descriptor of a directory that is empty, made when it does not exist; or negative errno with
 * error, -ENOTEMPTY when there is something in it, -ENOTDIR or -ELOOP when it is a link.
 */
int rna_recording_open(const char *path, struct rna_error *error);

/* Writes all notes, in their order, below fd. 0 or negative errno with error. */
int rna_recording_write(const struct rna_notes *notes, const struct rna_record_options *options,
			int fd, struct rna_record_result *ret, struct rna_error *error);
