// SPDX-License-Identifier: Apache-2.0
#include "json_parts.h"

#include "view/facts.h"

static void set_aer(struct rna_json_writer *writer, json_t *object, const struct rna_pcie_hop *hop)
{
	json_t *errors = json_object();

	for (enum rna_aer severity = 0; severity < RNA_AER_COUNT; severity++)
		rna_json_set_value(writer, errors, rna_aer_name(severity), hop->aer[severity]);
	rna_json_set(writer, object, "errors", errors);
}

static struct rna_value speed(const void *item)
{
	return rna_transfers_per_second(((const struct rna_pcie_hop *)item)->link.speed);
}

static struct rna_value max_speed(const void *item)
{
	return rna_transfers_per_second(((const struct rna_pcie_hop *)item)->link.max_speed);
}

static const char *role(const void *item)
{
	return rna_pci_role_name(((const struct rna_pcie_hop *)item)->role);
}

#define HOP(member) RNA_FIELD_IN(struct rna_pcie_hop, member)

static json_t *hop_object(struct rna_json_writer *writer, const struct rna_pcie_hop *hop)
{
	static const struct rna_field fields[] = {
		{.json = "pci_address", HOP(address)},
		{.json = "role", .text = role},
		{.json = "link_transfers_per_second", .number = speed},
		{.json = "link_lanes", HOP(link.width)},
		{.json = "max_link_transfers_per_second", .number = max_speed},
		{.json = "max_link_lanes", HOP(link.max_width)},
		{.json = "max_read_request_bytes", HOP(max_read_request)},
		{.json = "acs_redirect", HOP(acs_redirect), .yes_no = true},
	};
	json_t *object = json_object();

	rna_json_set_fields(writer, object, fields, RNA_ARRAY_SIZE(fields), hop);
	set_aer(writer, object, hop);
	return object;
}

/* Each end of a link says by itself what it can do; the device comes first, the root port last. */
void rna_json_set_pcie(struct rna_json_writer *writer, json_t *object, const struct rna_pcie *pcie)
{
	int bottleneck = pcie ? rna_pcie_bottleneck(pcie) : -1;
	json_t *array;

	if (!pcie)
		return;
	array = json_array();
	for (size_t i = 0; i < pcie->hop_count; i++)
		rna_json_append(writer, array, hop_object(writer, &pcie->hops[i]));
	if (bottleneck >= 0)
		rna_json_set_text(writer, object, "pcie_bottleneck",
				  pcie->hops[bottleneck].address);
	rna_json_set(writer, object, "pcie_hops", array);
	if (rna_value_is_known(pcie->iommu))
		rna_json_set_text(writer, object, "iommu",
				  rna_iommu_mode_name((enum rna_iommu_mode)pcie->iommu.number));
}

/* -- Resources --------------------------------------------------------------------------------- */

/* Without any that are known there is no member. */
static void set_resource_counts(struct rna_json_writer *writer, json_t *object, const char *name,
				const struct rna_value *counts)
{
	json_t *member = json_object();

	for (enum rna_resource i = 0; i < RNA_RESOURCE_COUNT; i++)
		rna_json_set_value(writer, member, rna_resource_name(i), counts[i]);
	rna_json_set_some(writer, object, name, member);
}

/* Without any there is no member. */
static void set_unnamed_contexts(struct rna_json_writer *writer, json_t *object,
				 const struct rna_users *users)
{
	json_t *member = json_object();

	for (enum rna_unnamed reason = 0; reason < RNA_UNNAMED_COUNT; reason++)
		if (users->unnamed[reason] > 0)
			rna_json_set_value(writer, member, rna_unnamed_name(reason),
					   rna_value_ok(users->unnamed[reason]));
	rna_json_set_some(writer, object, "unnamed_contexts", member);
}

void rna_json_set_resources(struct rna_json_writer *writer, json_t *object,
			    const struct rna_resources *resources)
{
	if (!resources)
		return;
	if (resources->users)
		rna_json_set_some(writer, object, "users",
				  rna_json_items(writer, &rna_user_table, resources->users->items,
						 resources->users->count,
						 sizeof(*resources->users->items)));
	if (resources->users)
		set_unnamed_contexts(writer, object, resources->users);
	set_resource_counts(writer, object, "resources", resources->now.of);
	set_resource_counts(writer, object, "idle_resources", resources->idle);
}

/* What the only user of the device has sent and got: device.users has its names. */
void rna_json_set_user_traffic(struct rna_json_writer *writer, json_t *object,
			       const struct rna_view_port *account)
{
	const struct rna_user_traffic *traffic = account ? account->user_traffic : NULL;
	json_t *member;

	if (!traffic)
		return;
	member = json_object();
	for (enum rna_user_traffic_id id = 0; id < RNA_USER_TRAFFIC_COUNT; id++)
		rna_json_set_value(writer, member, rna_user_traffic_name(id), traffic->of[id]);
	rna_json_set(writer, object, "user_traffic", member);
}

void rna_json_set_optional_counters(struct rna_json_writer *writer, json_t *object,
				    const struct rna_port_optional_counters *counters)
{
	if (counters)
		rna_json_set(writer, object, "optional_counters",
			     rna_json_items(writer, &rna_optional_counter_table, counters->items,
					    counters->count, sizeof(*counters->items)));
}

/* -- Network ----------------------------------------------------------------------------------- */

/* The items of a table that a port has; none: no member. */
static void set_items(struct rna_json_writer *writer, json_t *object, const char *name,
		      const struct rna_family_table *table, const struct rna_subject *port)
{
	json_t *array = json_array();
	const void *item;
	size_t from = 0;

	while ((item = table->next(port, &from)))
		rna_json_append(writer, array, rna_json_item(writer, table, item));
	rna_json_set_some(writer, object, name, array);
}

void rna_json_set_network(struct rna_json_writer *writer, json_t *object,
			  const struct rna_subject *port)
{
	set_items(writer, object, "bond_members", &rna_bond_member_table, port);
	set_items(writer, object, "gateways", &rna_gateway_table, port);
}

void rna_json_set_neighbours(struct rna_json_writer *writer, json_t *object,
			     const struct rna_gateways *gateways)
{
	json_t *tables = json_array();

	for (enum rna_gid_family i = 0; gateways && i < RNA_GID_FAMILY_COUNT; i++) {
		const struct rna_neighbour_table *table = &gateways->host.tables[i];
		json_t *member = json_object();

		rna_json_set_value(writer, member, "entries", table->entries);
		rna_json_set_value(writer, member, "limit", table->limit);
		rna_json_set_value(writer, member, "overflows", table->overflows);
		if (json_object_size(member) > 0) {
			rna_json_set_text(writer, member, "family", rna_gid_family_name(i));
			rna_json_append(writer, tables, member);
		} else {
			json_decref(member);
		}
	}
	rna_json_set_some(writer, object, "neighbour_tables", tables);
}

/* -- Fabric ------------------------------------------------------------------------------------ */

static json_t *pkey_object(struct rna_json_writer *writer, const struct rna_pkey *pkey)
{
	json_t *object = json_object();
	char text[8];

	(void)snprintf(text, sizeof(text), "0x%04x", pkey->key);
	rna_json_set(writer, object, "index", json_integer(pkey->index));
	rna_json_set_text(writer, object, "pkey", text);
	rna_json_set_text(writer, object, "membership", pkey->full ? "full" : "limited");
	return object;
}

void rna_json_set_fabric(struct rna_json_writer *writer, json_t *object,
			 const struct rna_subject *port)
{
	const struct rna_port_fabric *fabric = port->fabric;
	const struct rna_manager *manager;
	size_t from = 0;
	json_t *pkeys;

	if (port->peer)
		rna_json_set(writer, object, "peer",
			     rna_json_item(writer, &rna_peer_table, port->peer));
	if (!fabric)
		return;
	if (fabric->former_peer)
		rna_json_set(writer, object, "former_peer",
			     rna_json_item(writer, &rna_peer_table, fabric->former_peer));
	manager = rna_manager_table.next(port, &from);
	if (manager)
		rna_json_set(writer, object, "subnet_manager",
			     rna_json_item(writer, &rna_manager_table, manager));
	if (!fabric->pkeys_known)
		return;
	pkeys = json_array();
	for (size_t i = 0; i < fabric->pkey_count; i++)
		rna_json_append(writer, pkeys, pkey_object(writer, &fabric->pkeys[i]));
	rna_json_set(writer, object, "pkeys", pkeys);
}

/* -- Virtual functions ------------------------------------------------------------------------- */

void rna_json_set_virtual_functions(struct rna_json_writer *writer, json_t *object,
				    const struct rna_virtual_functions *functions, bool each)
{
	json_t *properties;

	if (!functions || functions->count == 0)
		return;
	properties = json_object();
	for (enum rna_vf_property i = 0; i < RNA_VF_PROPERTY_COUNT; i++)
		rna_json_set_value(writer, properties, rna_vf_property_name(i),
				   rna_vf_count(functions, i));
	rna_json_set(writer, object, "virtual_function_properties", properties);
	if (each)
		rna_json_set(writer, object, "virtual_function_list",
			     rna_json_items(writer, &rna_virtual_function_table,
					    functions->functions, functions->count,
					    sizeof(*functions->functions)));
}

/* -- Modules ----------------------------------------------------------------------------------- */

static json_t *limits_object(struct rna_json_writer *writer, const struct rna_value *limits)
{
	json_t *object = json_object();

	for (enum rna_module_limit limit = 0; limit < RNA_MODULE_LIMIT_COUNT; limit++)
		rna_json_set_value(writer, object, rna_module_limit_name(limit), limits[limit]);
	return object;
}

/* Numbers are whole: thousandths of a degree, microvolts, nanowatts, microamperes. */
static json_t *module_object(struct rna_json_writer *writer, const struct rna_port_module *module)
{
	json_t *object = rna_json_item(writer, &rna_module_table, module);
	json_t *lanes = json_array(), *limits = json_object();

	for (unsigned i = 0; i < module->lane_count; i++) {
		const struct rna_value *values = module->lanes[i];
		json_t *lane = json_object();

		rna_json_set_value(writer, lane, "receive_power_nanowatts",
				   values[RNA_MODULE_RECEIVE_POWER]);
		rna_json_set_value(writer, lane, "transmit_power_nanowatts",
				   values[RNA_MODULE_TRANSMIT_POWER]);
		rna_json_set_value(writer, lane, "bias_microamperes", values[RNA_MODULE_BIAS]);
		rna_json_append(writer, lanes, lane);
	}
	rna_json_set(writer, object, "lanes", lanes);
	for (enum rna_module_measure measure = 0; measure < RNA_MODULE_MEASURE_COUNT; measure++)
		rna_json_set(writer, limits, rna_module_measure_name(measure),
			     limits_object(writer, module->limits[measure]));
	rna_json_set(writer, object, "limits", limits);
	return object;
}

void rna_json_set_modules(struct rna_json_writer *writer, json_t *object,
			  const struct rna_modules *modules, unsigned port)
{
	json_t *array = json_array();

	for (size_t i = 0; modules && i < modules->count; i++)
		if (modules->modules[i].port == port)
			rna_json_append(writer, array, module_object(writer, &modules->modules[i]));
	rna_json_set_some(writer, object, "modules", array);
	if (modules && modules->denied)
		rna_json_set_text(writer, object, "modules_absent",
				  rna_reason_name(RNA_REASON_DENIED));
}

/* -- Readiness --------------------------------------------------------------------------------- */

#define DRIVER(member) RNA_FIELD_IN(struct rna_gpu_driver, member)

static json_t *gpu_driver_object(struct rna_json_writer *writer,
				 const struct rna_gpu_driver *driver)
{
	static const struct rna_field fields[] = {
		{.json = "name", DRIVER(name)},
		{.json = "version", DRIVER(version)},
		{.json = "open", DRIVER(open), .yes_no = true},
		{.json = "stream_memops", DRIVER(stream_memops), .yes_no = true},
		{.json = "peer_mapping_override", DRIVER(peer_mapping_override), .yes_no = true},
		{.json = "peer_to_peer", DRIVER(peer_to_peer), .yes_no = true},
	};
	json_t *object = json_object();

	rna_json_set_fields(writer, object, fields, RNA_ARRAY_SIZE(fields), driver);
	return object;
}

static json_t *node_object(struct rna_json_writer *writer, const struct rna_device_node *node)
{
	json_t *object = json_object();
	char mode[8];

	rna_json_set_text(writer, object, "name", node->name);
	rna_json_set_text(writer, object, "device", node->device);
	if (node->port > 0)
		rna_json_set(writer, object, "port", json_integer(node->port));
	if (node->missing)
		rna_json_set(writer, object, "missing", json_true());
	if (rna_value_is_known(node->mode)) {
		(void)snprintf(mode, sizeof(mode), "0%03jo", (uintmax_t)node->mode.number);
		rna_json_set_text(writer, object, "mode", mode);
	}
	return object;
}

static void set_limit(struct rna_json_writer *writer, json_t *object, const char *name,
		      struct rna_value limit)
{
	if (rna_value_is_known(limit) && limit.number == RNA_MEMLOCK_INFINITY)
		rna_json_set_text(writer, object, name, "infinity");
	else
		rna_json_set_value(writer, object, name, limit);
}

static json_t *runtime_object(struct rna_json_writer *writer, const struct rna_runtime *runtime)
{
	json_t *object = json_object();

	rna_json_set_text(writer, object, "unit", runtime->unit);
	set_limit(writer, object, "memlock_bytes", runtime->memlock);
	set_limit(writer, object, "process_memlock_bytes", runtime->running);
	set_limit(writer, object, "spec_memlock_bytes", runtime->spec);
	rna_json_set_text(writer, object, "spec_file", runtime->spec_file);
	return object;
}

static json_t *containers_object(struct rna_json_writer *writer,
				 const struct rna_container_limits *containers)
{
	json_t *object = json_object();

	rna_json_set_number(writer, object, "count", containers->count);
	rna_json_set_number(writer, object, "memlock_low", containers->low);
	set_limit(writer, object, "memlock_lowest_bytes", containers->lowest);
	rna_json_set_text(writer, object, "memlock_low_example", containers->example);
	return object;
}

static json_t *machine_object(struct rna_json_writer *writer, const struct rna_dmi *dmi)
{
	json_t *object = json_object();

	rna_json_set_text(writer, object, "vendor", dmi->vendor);
	rna_json_set_text(writer, object, "product", dmi->product);
	rna_json_set_text(writer, object, "board", dmi->board);
	return object;
}

static json_t *cpu_frequency_object(struct rna_json_writer *writer,
				    const struct rna_cpu_frequency *frequency)
{
	json_t *object = json_object(), *governors = json_object();

	for (size_t i = 0; i < frequency->governor_count; i++)
		rna_json_set(writer, governors, frequency->governors[i].name,
			     json_integer((json_int_t)frequency->governors[i].policies));
	rna_json_set_text(writer, object, "driver", frequency->driver);
	rna_json_set(writer, object, "governors", governors);
	return object;
}

static void set_host(struct rna_json_writer *writer, json_t *object,
		     const struct rna_readiness *readiness)
{
	rna_json_set_boolean(writer, object, "virtual_machine", readiness->virtual_machine);
	if (readiness->cpu_frequency.driver || readiness->cpu_frequency.governor_count > 0)
		rna_json_set(writer, object, "cpu_frequency",
			     cpu_frequency_object(writer, &readiness->cpu_frequency));
	rna_json_set_text(writer, object, "iommu", readiness->iommu);
	if (rna_value_is_known(readiness->gpu_iommu))
		rna_json_set_text(writer, object, "gpu_iommu",
				  rna_iommu_mode_name(
					  (enum rna_iommu_mode)readiness->gpu_iommu.number));
}

static void set_lists(struct rna_json_writer *writer, json_t *object,
		      const struct rna_readiness *readiness)
{
	json_t *modules = json_object(), *nodes = json_array(), *runtimes = json_array();

	for (size_t i = 0; i < readiness->module_count; i++)
		rna_json_set(writer, modules, readiness->modules[i].name,
			     json_boolean(readiness->modules[i].loaded));
	for (size_t i = 0; i < readiness->node_count; i++)
		rna_json_append(writer, nodes, node_object(writer, &readiness->nodes[i]));
	for (size_t i = 0; i < readiness->runtime_count; i++)
		rna_json_append(writer, runtimes, runtime_object(writer, &readiness->runtimes[i]));
	rna_json_set(writer, object, "modules", modules);
	rna_json_set(writer, object, "device_nodes", nodes);
	rna_json_set(writer, object, "container_runtimes", runtimes);
	if (readiness->containers.count > 0)
		rna_json_set(writer, object, "containers",
			     containers_object(writer, &readiness->containers));
}

void rna_json_set_readiness(struct rna_json_writer *writer, json_t *parent,
			    const struct rna_readiness *readiness)
{
	json_t *object, *methods;

	if (!readiness)
		return;
	object = json_object();
	methods = json_object();
	rna_json_set_text(writer, object, "kernel", readiness->kernel);
	if (readiness->dmi.vendor || readiness->dmi.product || readiness->dmi.board)
		rna_json_set(writer, object, "machine", machine_object(writer, &readiness->dmi));
	set_host(writer, object, readiness);
	if (readiness->gpu_driver.name)
		rna_json_set(writer, object, "gpu_driver",
			     gpu_driver_object(writer, &readiness->gpu_driver));
	for (enum rna_gpudirect method = 0; method < RNA_GPUDIRECT_COUNT; method++)
		rna_json_set_boolean(writer, methods, rna_gpudirect_name(method),
				     readiness->gpudirect[method]);
	if (readiness->gpudirect_reason)
		rna_json_set_text(writer, methods, "state",
				  rna_gpudirect_state_name(readiness->gpudirect_state));
	rna_json_set_text(writer, methods, "reason", readiness->gpudirect_reason);
	rna_json_set(writer, object, "gpudirect", methods);
	rna_json_set_boolean(writer, object, "netns_exclusive", readiness->netns_exclusive);
	set_lists(writer, object, readiness);
	rna_json_set(writer, parent, "readiness", object);
}
