/* SPDX-License-Identifier: Apache-2.0 */
/* Completion for shells, written from the tables of commands and options. */
#pragma once

#include "rna/base/strbuf.h"

void rna_completion_write_bash(struct rna_strbuf *out);
