// SPDX-License-Identifier: Apache-2.0
/* The door. What is behind it stands in commands.c, where tests reach it too. */
#include "commands.h"

int main(int argc, char *argv[])
{
	return rna_commands_main(argc, argv);
}
