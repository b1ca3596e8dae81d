// SPDX-License-Identifier: Apache-2.0
/* main(): everything else is in commands.c, where tests can call it. */
#include <string.h>

#include "rna/bandwidth.h"
#include "rna/model/loopback.h"
#include "rna/prober.h"

#include "cli/commands.h"
#include "loop/seccomp_filter.h"

int main(int argc, char *argv[])
{
	if (argc > 0 && strncmp(argv[0], RNA_LOOPBACK_PROGRAM, strlen(RNA_LOOPBACK_PROGRAM)) == 0)
		return rna_loopback_child_main();
	if (argc > 0 && strncmp(argv[0], RNA_BANDWIDTH_PROGRAM, strlen(RNA_BANDWIDTH_PROGRAM)) == 0)
		return rna_bandwidth_child_main();
	if (argc > 0 && strncmp(argv[0], RNA_PROBER_PROGRAM, strlen(RNA_PROBER_PROGRAM)) == 0)
		return rna_prober_main(rna_seccomp_confine_prober);
	return rna_commands_main(argc, argv);
}
