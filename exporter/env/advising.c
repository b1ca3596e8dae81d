// SPDX-License-Identifier: Apache-2.0
/* What the functions of a request share: they add to what was advised, and ask what was given. */
#include "rna/base/parse.h"

#include "dialect.h"

void rna_env_set(struct rna_env_advising *advising, const char *name, const char *value,
		 const char *reason)
{
	if (value && reason)
		advising->variables[advising->variable_count++] =
			(struct rna_env_variable){name, value, reason};
	else
		advising->failed = true;
}

void rna_env_warn(struct rna_env_advising *advising, const char *text)
{
	if (text)
		advising->warnings[advising->warning_count++] = text;
	else
		advising->failed = true;
}

const char *rna_env_name(struct rna_env_advising *advising, const struct rna_subject *port)
{
	const char *name = rna_env_port_name(port, advising->arena);

	advising->failed |= !name;
	return name ? name : "";
}

const char *rna_env_ask(const struct rna_env_request *request, const char *name)
{
	const char *value = name && request->get ? request->get(name, request->userdata) : NULL;

	return value && *value ? value : NULL;
}

const char *rna_env_given(const struct rna_env_advising *advising, const char *name)
{
	return rna_env_ask(advising->request, name);
}

bool rna_env_is_of_gpu(const struct rna_env_advising *advising)
{
	return advising->request->gpu != RNA_ENV_NODE;
}

void rna_env_warn_of_vendor(struct rna_env_advising *advising, uint32_t vendor, const char *name)
{
	const struct rna_topology *topology = rna_snapshot_topology(advising->view->snapshot);

	for (size_t i = 0; topology && i < topology->gpu_count; i++)
		if (topology->objects[topology->gpus[i].object].vendor_id == vendor)
			return;
	if (topology)
		RNA_ENV_WARN(advising, "this node has no GPU of %s, which %s is for", name,
			     advising->dialect->words.title);
}

bool rna_env_needs_dma_buf(const struct rna_env_advising *advising, const char *driver)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(advising->view->snapshot);
	struct rna_value peer, buffer;

	if (!readiness || !rna_same_text(readiness->gpu_driver.name, driver))
		return false;
	peer = readiness->gpudirect[RNA_GPUDIRECT_PEER_MEMORY];
	buffer = readiness->gpudirect[RNA_GPUDIRECT_DMA_BUF];
	return rna_value_is_known(peer) && peer.number == 0 && rna_value_is_known(buffer) &&
	       buffer.number == 1;
}

static bool is_flat(const struct rna_topology *topology)
{
	for (size_t i = 0; topology && i < topology->gpu_count; i++)
		if (topology->affinities[i].nearest_count == 1 ||
		    (topology->affinities[i].nearest_count > 1 &&
		     topology->affinities[i].path < RNA_PATH_PHB))
			return false;
	return topology && topology->gpu_count > 0;
}

bool rna_env_is_flat_guest(const struct rna_env_advising *advising)
{
	const struct rna_env_ports *ports = &advising->ports;
	size_t guests = 0;

	for (size_t i = 0; i < ports->count; i++)
		guests += ports->items[i]->device->device->function == RNA_FUNCTION_GUEST_VF;
	return guests > 0 && is_flat(rna_snapshot_topology(advising->view->snapshot));
}
