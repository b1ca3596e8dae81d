// SPDX-License-Identifier: Apache-2.0
#include "aimer.h"

enum { STACK = 128 << 10, JOBS_MAX = 8192 };

static void make_aim(struct rna_work *work, void *userdata)
{
	struct rna_aim_job *job = (struct rna_aim_job *)work;

	(void)userdata;
	job->status = rna_aim_make(job->verbs, &job->request, &job->aim);
}

int rna_aimer_start(struct rna_worker **ret)
{
	const struct rna_worker_options options = {
		.name = "rna-aimer",
		.stack = STACK,
		.most = JOBS_MAX,
		.perform = make_aim,
	};

	return rna_worker_start_new(&options, ret);
}

int rna_aimer_put(struct rna_worker *aimer, struct rna_aim_job *job)
{
	return rna_worker_give(aimer, &job->work);
}

struct rna_aim_job *rna_aimer_take(struct rna_worker *aimer)
{
	return (struct rna_aim_job *)rna_worker_take(aimer);
}
