/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cards in words, as the tables of the terminal and of the status page show them. Nothing is
 * written if nothing is known. Texts contain names from hardware: the caller escapes them.
 */
#pragma once

#include "subjects.h"

/*
 * Ports of the physical functions of a card that have a cable of their own, as representors of
 * virtual functions have not. Unwired ones are in none of the other counts.
 */
struct rna_card_ports {
	size_t count;
	size_t up;
	size_t expected_down; /* by configuration, or accepted */
	size_t unwired;
	/* Of multi-plane cards. Absent: it has none; planes_up also: a state is not known. */
	struct rna_value planes;
	struct rna_value planes_up;
};

struct rna_card_ports rna_card_count_ports(const struct rna_subjects *subjects,
					   const struct rna_card *card);

/* The next of these ports, unwired ones included; see rna_subjects_next_of_card(). */
const struct rna_subject *rna_card_next_port(const struct rna_subjects *subjects,
					     const struct rna_card *card,
					     struct rna_card_cursor *next);

typedef void rna_card_say(const struct rna_subjects *subjects, const struct rna_card *card,
			  struct rna_strbuf *out);

/* "mlx5_0, mlx5_1, 16 VFs, 0000:3b:00.2 without RDMA device" */
rna_card_say rna_card_say_devices;

/* "2 of 4 up, 1 expected down, 8 unwired; planes 7 of 8 up" */
rna_card_say rna_card_say_ports;

/* The version; if functions run several, that of each device. */
rna_card_say rna_card_say_firmware;

/* "mlx5_0/1 to leaf-07 port 12, mlx5_1/1 to leaf-08 port 12 (before)"; of many the first ones. */
rna_card_say rna_card_say_cables;

/* "16 unwired ports: mlx5_0/1,2,4,5 mlx5_1/1,2,4,5"; without any, nothing. */
void rna_say_unwired(const struct rna_subjects *subjects, struct rna_strbuf *out);
