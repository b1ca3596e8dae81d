// SPDX-License-Identifier: Apache-2.0
/*
 * Searches go on where they ended, as those of rna/model/netdev.h, so that 512 ports cost about 512
 * comparisons. So does finding out who is whose sibling: a node has few models.
 */
#include "rule_subjects.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>

#include "rna/base/parse.h"
#include "rna/model/card.h"

#include "settings/settings.h"

struct join {
	const struct rna_view *view;
	const struct rna_settings *settings;
	struct rna_netdev_search netdevs;
	size_t next_job; /* where the last search ended */
	size_t tested;   /* likewise */
	size_t model_count;
	const struct rna_rule_subject *models[RNA_RULE_MODELS_MAX]; /* the first port of each */
	size_t place_count;
	const struct rna_rule_subject *places[RNA_RULE_MODELS_MAX]; /* likewise */
	unsigned *functions; /* NICs of each card, as the view lists them; to be freed */
	const char **rails;  /* the devices of NICs with a rail, sorted; to be freed */
	size_t rail_count;
};

static const struct rna_netdev *find_netdev(struct join *join, const struct rna_device *device,
					    unsigned port)
{
	const struct rna_port_netdev *found =
		rna_netdev_search_port(&join->netdevs, device->name, port);
	const struct rna_followed_netdev *followed =
		rna_netdevs_followed(join->netdevs.netdevs, device, port);

	if (followed)
		return &followed->netdev;
	return found ? rna_netdev_search_name(&join->netdevs, found->netdev) : NULL;
}

/* Jobs of one device stand together. */
static void set_jobs(struct join *join, struct rna_rule_subject *subject)
{
	const struct rna_view *view = join->view;
	const char *name = subject->device->device->name;
	size_t tried = 0, first;

	while (tried < view->job_count &&
	       strcmp(view->jobs[join->next_job % view->job_count].device, name) != 0) {
		join->next_job++;
		tried++;
	}
	if (tried == view->job_count)
		return;
	first = join->next_job % view->job_count;
	subject->jobs = &view->jobs[first];
	while (first + subject->job_count < view->job_count &&
	       strcmp(subject->jobs[subject->job_count].device, name) == 0)
		subject->job_count++;
}

/*
 * Does it not answer? And when it did not for long, what it told is gone until each of its
 * collectors had its turn again. One that fails is no such case: it would keep all findings as they
 * are.
 */
static bool is_unseen(const struct rna_rule_subject *device)
{
	for (size_t i = 0; i < device->job_count; i++) {
		const struct rna_job_status *job = &device->jobs[i];

		if (job->stalled || (job->success && !device->device->parts[job->collector]))
			return true;
	}
	return false;
}

static bool same_model(const struct rna_rule_subject *a, const struct rna_rule_subject *b)
{
	return a->link_layer == b->link_layer && rna_card_is_same_model(a->device, b->device);
}

/* A number from 1 on; 0: not known, or not a port with a function of its own. */
static unsigned model_of(struct join *join, const struct rna_rule_subject *port)
{
	const struct rna_device *device = port->device->device;

	if (!rna_device_is_nic(device) || device->vendor_id == 0 ||
	    port->link_layer == RNA_LINK_LAYER_UNKNOWN)
		return 0;
	for (unsigned i = 0; i < join->model_count; i++)
		if (same_model(join->models[i], port))
			return i + 1;
	if (join->model_count == RNA_RULE_MODELS_MAX)
		return 0;
	join->models[join->model_count++] = port;
	return (unsigned)join->model_count;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Without memory for it, no port is a rail, and those of one model are compared with each other. */
static void list_rails(struct join *join)
{
	const struct rna_topology *topology = rna_snapshot_topology(join->view->snapshot);
	size_t size = 0;

	for (size_t i = 0; topology && i < topology->nic_count; i++)
		size += topology->nics[i].device_count;
	join->rails = size > 0 ? calloc(size, sizeof(*join->rails)) : NULL;
	for (size_t i = 0; join->rails && i < topology->nic_count; i++)
		for (size_t d = 0;
		     topology->nics[i].rail >= 0 && d < topology->nics[i].device_count; d++)
			join->rails[join->rail_count++] = topology->nics[i].devices[d];
	if (join->rail_count > 0)
		qsort(join->rails, join->rail_count, sizeof(*join->rails), compare_texts);
}

/* Without memory for it, cards are not told apart by the number of their functions. */
static void count_functions(struct join *join)
{
	const struct rna_cards *cards = join->view->cards;
	const struct rna_snapshot *snapshot = join->view->snapshot;

	join->functions =
		cards && cards->count > 0 ? calloc(cards->count, sizeof(*join->functions)) : NULL;
	for (size_t i = 0; join->functions && i < snapshot->device_count; i++)
		if (cards->of_devices[i] >= 0)
			join->functions[cards->of_devices[i]] +=
				rna_device_is_nic(snapshot->devices[i].device);
}

static unsigned functions_of(const struct join *join, size_t device)
{
	int card = join->functions ? join->view->cards->of_devices[device] : -1;

	return card >= 0 ? join->functions[card] : 0;
}

static bool is_rail(const struct join *join, const struct rna_device *device)
{
	return join->rail_count > 0 && bsearch(&device->name, join->rails, join->rail_count,
					       sizeof(*join->rails), compare_texts);
}

/* "0" of "0000:3b:00.0": functions are numbered alike on cards of one model. */
static const char *function_of(const struct rna_device *device)
{
	const char *dot = device->pci_address ? strrchr(device->pci_address, '.') : NULL;

	return dot ? dot + 1 : "";
}

static bool same_place(const struct rna_rule_subject *a, const struct rna_rule_subject *b)
{
	return a->number == b->number && a->rail == b->rail &&
	       a->card_functions == b->card_functions &&
	       strcmp(function_of(a->device->device), function_of(b->device->device)) == 0 &&
	       rna_card_is_same_model(a->device, b->device);
}

/* A number from 1 on; 0: not judged, or its model is not known. */
static unsigned place_of(struct join *join, const struct rna_rule_subject *port)
{
	const struct rna_device *device = port->device->device;

	if (!port->judged || !port->identity || !rna_device_is_nic(device) ||
	    device->vendor_id == 0 || device->device_id == 0)
		return 0;
	for (unsigned i = 0; i < join->place_count; i++)
		if (same_place(join->places[i], port))
			return i + 1;
	if (join->place_count == RNA_RULE_MODELS_MAX)
		return 0;
	join->places[join->place_count++] = port;
	return (unsigned)join->place_count;
}

/*
 * VFs and SFs have no physical port of their own, and their state is configured for a guest. The
 * same holds for representors, which go down with the pod at the other end. The functions that
 * manage NVSwitches carry no traffic.
 */
static bool is_judged(const struct rna_rule_subject *subject, const struct rna_settings *settings)
{
	switch (subject->device->device->function) {
	case RNA_FUNCTION_SWITCH_MANAGEMENT:
		return false;
	case RNA_FUNCTION_VF:
	case RNA_FUNCTION_SF:
		return settings->health_virtual_functions;
	default:
		return !subject->netdev || !subject->netdev->representor;
	}
}

/*
 * Of a device whose ports agree: it decides which of the device's own counters mean something. The
 * ports of ConnectX differ on some cards, but each is a device of its own.
 */
static enum rna_link_layer common_link_layer(const struct rna_identity *identity)
{
	if (!identity || identity->port_count == 0)
		return RNA_LINK_LAYER_UNKNOWN;
	for (size_t i = 1; i < identity->port_count; i++)
		if (identity->ports[i].link_layer != identity->ports[0].link_layer)
			return RNA_LINK_LAYER_UNKNOWN;
	return identity->ports[0].link_layer;
}

static void set_port(struct join *join, struct rna_rule_subject *subject, size_t index)
{
	const struct rna_snapshot_device *device = subject->device;
	unsigned number = subject->number;
	const struct rna_port_identity *identity = rna_port_identity(device, number);

	subject->link_layer = identity ? identity->link_layer : RNA_LINK_LAYER_UNKNOWN;
	subject->state = rna_port_state(device, number);
	subject->unseen |= !rna_subject_state_is_known(subject);
	subject->link = rna_port_link(device, number);
	subject->fabric = rna_port_fabric(device, number);
	subject->gids = rna_port_gids(device, number);
	subject->qos = rna_port_qos(device, number);
	subject->netdev = find_netdev(join, device->device, number);
	subject->judged = is_judged(subject, join->settings);
	subject->account = join->view->ports ? &join->view->ports[index] : NULL;
	subject->peer = subject->account ? subject->account->peer : rna_port_peer(device, number);
	subject->selftest = rna_selftest_find(join->view->selftests, device->device->name, number,
					      &join->tested);
	subject->model = model_of(join, subject);
	subject->place = place_of(join, subject);
	subject->nccl_known = rna_subject_nccl_index(subject, &subject->nccl_index);
}

ssize_t rna_rule_subjects_new(const struct rna_view *view, const struct rna_settings *settings,
			      struct rna_rule_subject **ret)
{
	const struct rna_snapshot *snapshot = view->snapshot;
	struct join join = {
		.view = view,
		.settings = settings,
		.netdevs.netdevs = rna_snapshot_netdevs(snapshot),
	};
	size_t count = snapshot->device_count, port = 0, next = 0;
	struct rna_rule_subject *subjects;

	for (size_t i = 0; i < snapshot->device_count; i++)
		count += snapshot->devices[i].device->port_count;
	subjects = calloc(count + 1, sizeof(*subjects)); /* never none */
	if (!subjects)
		return -ENOMEM;
	list_rails(&join);
	count_functions(&join);
	for (size_t i = 0; i < snapshot->device_count; i++) {
		const struct rna_snapshot_device *device = &snapshot->devices[i];
		struct rna_rule_subject whole = {
			.device = device,
			.identity = rna_device_identity(device),
			.link_layer = common_link_layer(rna_device_identity(device)),
			.rail = is_rail(&join, device->device),
			.card_functions = functions_of(&join, i),
		};

		set_jobs(&join, &whole);
		whole.judged = is_judged(&whole, settings);
		whole.changes = view->devices ? &view->devices[i] : NULL;
		whole.unseen = is_unseen(&whole);
		subjects[next++] = whole;
		for (size_t p = 0; p < device->device->port_count; p++) {
			subjects[next] = whole;
			subjects[next].number = device->device->ports[p];
			set_port(&join, &subjects[next++], port++);
		}
	}
	free(join.rails);
	free(join.functions);
	*ret = subjects;
	return (ssize_t)count;
}
