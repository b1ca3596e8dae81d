// SPDX-License-Identifier: Apache-2.0
#include "rna/base/thread.h"

#include <signal.h>

int rna_thread_start(pthread_t *thread, size_t stack, const char *name, void *(*body)(void *),
		     void *userdata)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int ret;

	ret = pthread_attr_init(&attributes);
	if (ret != 0)
		return -ret;
	/* on failure the default size is used */
	(void)pthread_attr_setstacksize(&attributes, stack);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(thread, &attributes, body, userdata);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	if (ret == 0)
		(void)pthread_setname_np(*thread, name);
	return -ret;
}
