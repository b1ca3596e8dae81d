// SPDX-License-Identifier: Apache-2.0
/*
 * Each kind of end has a function that looks for it. What was read before the last message is no
 * evidence: the firmware may have failed in between.
 */
#include "episode_end.h"

#include <string.h>

#include "rna/model/driver.h"

static const struct rna_snapshot_device *witness_of(const struct rna_episode *episode)
{
	return episode->object.witness;
}

/* Was all of the part read after the last message? If not, it will be soon. */
static bool is_fresh(const struct rna_episode *episode, const struct rna_part *part)
{
	return part->started.monotonic > episode->heard;
}

static enum rna_episode_evidence good_if(bool good)
{
	return good ? RNA_EPISODE_GOOD : RNA_EPISODE_BAD;
}

/* -- The device answers ------------------------------------------------------------------------ */

/*
 * The state of a port of mlx5 and mlx4 is asked of the firmware each time (mlx5_ib_query_port(),
 * ib_link_query_port()), and so are the counters of a port of EFA (efa_com_get_stats()) and MANA
 * (mana_ib_get_hw_stats()): each read fails if the firmware does not answer. Other drivers take the
 * state from the network interface, which may be up while the firmware is dead, and report counters
 * also where their command failed, or that are their own: bnxt_re_ib_get_hw_stats(), irdma's
 * irdma_cqp_gather_stats_cmd(), hns_roce_get_hw_stats() in drivers/infiniband/hw, Linux 6.6
 * to 6.12.
 */
static bool asks_for(const struct rna_device *device, enum rna_driver_answers what)
{
	const struct rna_driver *driver = rna_driver_named(device->driver);

	return driver && driver->answers == what;
}

static bool has_counters(const struct rna_counters_part *part)
{
	for (size_t g = 0; g < part->group_count; g++)
		for (size_t i = 0; part->groups[g].port > 0 && i < part->groups[g].count; i++)
			if (rna_value_is_known(part->groups[g].values[i].value))
				return true;
	return false;
}

static bool has_state(const struct rna_state *state)
{
	return RNA_ANY(i, state->port_count, rna_value_is_known(state->ports[i].state));
}

static bool is_stalled(const struct rna_view *view, const struct rna_device *device)
{
	return RNA_ANY(i, view->job_count,
		       view->jobs[i].stalled && strcmp(view->jobs[i].device, device->name) == 0);
}

static enum rna_episode_evidence look_for_answer(struct rna_episode *episode,
						 const struct rna_view *view)
{
	const struct rna_snapshot_device *device = witness_of(episode);
	const struct rna_counters_part *counters = NULL;
	const struct rna_state *state = NULL;

	if (device && asks_for(device->device, RNA_DRIVER_ANSWERS_STATE))
		state = rna_device_state(device);
	if (device && asks_for(device->device, RNA_DRIVER_ANSWERS_COUNTERS))
		counters = rna_device_counters(device, RNA_COLLECTOR_HW_COUNTERS);
	if (device && is_stalled(view, device->device))
		return RNA_EPISODE_BAD;
	if (state)
		return good_if(is_fresh(episode, &state->part) && has_state(state));
	return counters ? good_if(is_fresh(episode, &counters->part) && has_counters(counters))
			: RNA_EPISODE_UNSEEN;
}

/* -- The interface sends ----------------------------------------------------------------------- */

/*
 * No collector counts the packets of an interface. But while it is up with a carrier, the kernel
 * looks at its queues every few seconds and has the driver report each one that does not move,
 * again and again: dev_watchdog() in net/sched/sch_generic.c, Linux 5.15. Ten minutes in which the
 * interface was up without a message are ten minutes in which the kernel looked and found none. An
 * interface that is down is not looked at.
 */
static enum rna_episode_evidence look_at_interface(struct rna_episode *episode,
						   const struct rna_view *view)
{
	const struct rna_netdevs *netdevs = rna_snapshot_netdevs(view->snapshot);

	if (!netdevs || !episode->object.netdev)
		return RNA_EPISODE_UNSEEN;
	RNA_EACH (netdev, netdevs->netdevs, netdevs->count) {
		if (strcmp(netdev->name, episode->object.netdev) != 0)
			continue;
		return good_if(is_fresh(episode, &netdevs->part) && netdev->admin_up &&
			       rna_value_is_known(netdev->carrier) && netdev->carrier.number);
	}
	return RNA_EPISODE_UNSEEN;
}

/* -- Errors of PCIe ---------------------------------------------------------------------------- */

/* Of all functions on the path: what a port above the device reports is counted there. */
static struct rna_value sum_errors(const struct rna_pcie *pcie)
{
	struct rna_value sum = rna_value_ok(0);

	for (enum rna_aer severity = 0; severity < RNA_AER_COUNT; severity++) {
		struct rna_value errors = rna_pcie_errors(pcie, severity);

		if (!rna_value_is_known(errors))
			return (struct rna_value){0};
		sum.number += errors.number;
	}
	return sum;
}

static enum rna_episode_evidence look_at_errors(struct rna_episode *episode,
						const struct rna_view *view)
{
	const struct rna_snapshot_device *device =
		witness_of(episode) ? witness_of(episode) : episode->object.device;
	const struct rna_pcie *pcie = device ? rna_device_pcie(device) : NULL;
	struct rna_value before = episode->errors;

	(void)view;
	episode->errors = pcie ? sum_errors(pcie) : (struct rna_value){0};
	if (!rna_value_is_known(episode->errors))
		return RNA_EPISODE_UNSEEN;
	return good_if(is_fresh(episode, &pcie->part) &&
		       (!rna_value_is_known(before) || before.number == episode->errors.number));
}

/* -- The temperature --------------------------------------------------------------------------- */

/* Of the modules: no collector reads the temperature of the chip. */
static enum rna_episode_evidence look_at_temperature(struct rna_episode *episode,
						     const struct rna_view *view)
{
	const struct rna_modules *modules =
		witness_of(episode) ? rna_device_modules(witness_of(episode)) : NULL;
	enum rna_episode_evidence ret = RNA_EPISODE_UNSEEN;

	(void)view;
	for (size_t i = 0; modules && i < modules->count; i++) {
		const struct rna_port_module *module = &modules->modules[i];
		const struct rna_value *limits = module->limits[RNA_MODULE_TEMPERATURE];
		enum rna_module_limit exceeded =
			rna_module_exceeded(module, RNA_MODULE_TEMPERATURE, module->temperature);

		if (exceeded == RNA_MODULE_HIGH_ALARM || exceeded == RNA_MODULE_HIGH_WARNING)
			return RNA_EPISODE_BAD;
		if (rna_value_is_known(module->temperature) &&
		    (rna_value_is_known(limits[RNA_MODULE_HIGH_ALARM]) ||
		     rna_value_is_known(limits[RNA_MODULE_HIGH_WARNING])))
			ret = good_if(is_fresh(episode, &modules->part));
	}
	return ret;
}

/* -- The port is up ---------------------------------------------------------------------------- */

static const struct rna_view_port *account_of(const struct rna_view *view,
					      const struct rna_snapshot_device *device,
					      unsigned number)
{
	const struct rna_snapshot *snapshot = view->snapshot;
	const struct rna_view_port *account = view->ports;

	for (size_t i = 0; account && &snapshot->devices[i] != device; i++)
		account += snapshot->devices[i].device->port_count;
	return RNA_FIND(p, account, account ? device->device->port_count : 0,
			account[p].number == number);
}

static enum rna_episode_evidence look_at_port(const struct rna_view *view,
					      const struct rna_snapshot_device *device,
					      unsigned number)
{
	const struct rna_port_state_value *state = rna_port_state(device, number);
	const struct rna_view_port *account = account_of(view, device, number);

	if (!state || !rna_value_is_known(state->state))
		return RNA_EPISODE_UNSEEN;
	if (rna_port_works(device, number) ||
	    (account && account->expectation.expected == RNA_EXPECTED_DOWN))
		return RNA_EPISODE_GOOD;
	return RNA_EPISODE_BAD;
}

/* Each port that is not meant to be down, unless the messages name one. */
static enum rna_episode_evidence look_at_ports(struct rna_episode *episode,
					       const struct rna_view *view)
{
	const struct rna_snapshot_device *device = witness_of(episode);
	const struct rna_state *state = device ? rna_device_state(device) : NULL;
	enum rna_episode_evidence ret = RNA_EPISODE_UNSEEN;

	for (size_t i = 0; state && i < state->port_count; i++) {
		enum rna_episode_evidence port;

		if (episode->object.port && state->ports[i].number != episode->object.port)
			continue;
		port = look_at_port(view, device, state->ports[i].number);
		if (port != RNA_EPISODE_GOOD)
			return port;
		ret = good_if(is_fresh(episode, &state->part));
	}
	return ret;
}

/* -- Nothing but time -------------------------------------------------------------------------- */

static enum rna_episode_evidence see_nothing(struct rna_episode *episode,
					     const struct rna_view *view)
{
	(void)episode, (void)view;
	return RNA_EPISODE_UNSEEN;
}

/* The agent runs, or it would not ask. */
static enum rna_episode_evidence see_the_agent(struct rna_episode *episode,
					       const struct rna_view *view)
{
	(void)episode, (void)view;
	return RNA_EPISODE_GOOD;
}

/* -- The ends ---------------------------------------------------------------------------------- */

enum rna_episode_evidence rna_episode_look(struct rna_episode *episode, const struct rna_view *view)
{
	static enum rna_episode_evidence (*const looks[])(struct rna_episode * episode,
							  const struct rna_view *view) = {
		[RNA_LOG_ENDS_ANSWERING] = look_for_answer,
		[RNA_LOG_ENDS_SENDING] = look_at_interface,
		[RNA_LOG_ENDS_COUNTERS] = look_at_errors,
		[RNA_LOG_ENDS_COOL] = look_at_temperature,
		[RNA_LOG_ENDS_ACTIVE] = look_at_ports,
		[RNA_LOG_ENDS_RECOVERED] = see_nothing,
		[RNA_LOG_ENDS_RUNNING] = see_the_agent,
	};

	return looks[episode->pattern->end](episode, view);
}

/* The newest acceptance of a port of the device, or of the whole node. */
bool rna_episode_is_accepted(const struct rna_episode *episode, const struct rna_view *view)
{
	const struct rna_snapshot_device *device = episode->object.device;
	rna_usec accepted = view->accepted;

	for (size_t p = 0; device && p < device->device->port_count; p++) {
		const struct rna_view_port *account =
			account_of(view, device, device->device->ports[p]);

		if (account && account->accepted > accepted)
			accepted = account->accepted;
	}
	return episode->last.realtime > 0 && accepted > episode->last.realtime;
}
