/* SPDX-License-Identifier: Apache-2.0 */
/* Names of system calls, each list ended by NULL; what is in none of them is unknown here. */
#pragma once

extern const char *const rna_seccomp_allowed[];
extern const char *const rna_seccomp_refused[];
extern const char *const rna_seccomp_hostile[];
