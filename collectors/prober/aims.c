// SPDX-License-Identifier: Apache-2.0
#include "aims.h"

#include <stddef.h>

unsigned rna_aims_place(uint32_t turn, unsigned places)
{
	return turn % places;
}

uint8_t rna_aims_class(uint32_t turn, unsigned places)
{
	uint32_t rounds = turn / (places * RNA_AIM_ROUNDS);

	if (places == 1)
		return 0;
	return (uint8_t)((rounds * places + rna_aims_place(turn, places)) % RNA_FLOW_CLASSES);
}

bool rna_aims_want(const struct rna_aims *aims, uint32_t turn, unsigned places)
{
	unsigned place = rna_aims_place(turn, places);

	return !aims->aims[place] || aims->classes[place] != rna_aims_class(turn, places);
}

void *rna_aims_choose(const struct rna_aims *aims, uint32_t turn, unsigned places,
		      uint8_t *ret_class)
{
	for (unsigned i = 0; i < places; i++) {
		unsigned place = (rna_aims_place(turn, places) + i) % places;

		*ret_class = aims->classes[place];
		if (aims->aims[place])
			return aims->aims[place];
	}
	return NULL;
}

void *rna_aims_put(struct rna_aims *aims, uint8_t class, unsigned places, void *aim)
{
	unsigned place = class % places;
	void *old = aims->aims[place];

	aims->aims[place] = aim;
	aims->classes[place] = class;
	return old;
}
