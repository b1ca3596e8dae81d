// SPDX-License-Identifier: Apache-2.0
/*
 * The topology as JSON: GPUs, NICs, the tree, and how far all pairs are apart. In the snapshot
 * stands the short form, without what grows with the square of a node.
 */
#include "rna/exporter.h"

#include "view/topology_tree.h"

#include "json_parts.h"

static void set_texts(struct rna_json_writer *writer, json_t *object, const char *name,
		      const char *const *texts, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		rna_json_append(writer, array, rna_json_text(writer, texts[i]));
	rna_json_set(writer, object, name, array);
}

/* A number that is negative where it is not known. */
static void set_known(struct rna_json_writer *writer, json_t *object, const char *name, int number)
{
	if (number >= 0)
		rna_json_set(writer, object, name, json_integer(number));
}

static const char *address_of(const struct rna_topology *topology, unsigned object)
{
	return topology->objects[object].address;
}

static const char *nic_address(const struct rna_topology *topology, int nic)
{
	return nic < 0 ? NULL : address_of(topology, topology->nics[nic].object);
}

/* What GPUs and NICs have in common. */
static json_t *function_object(struct rna_json_writer *writer, const struct rna_topology *topology,
			       unsigned number)
{
	const struct rna_pci_object *object = &topology->objects[number];
	json_t *json = json_object();

	rna_json_set_text(writer, json, "pci_address", object->address);
	set_known(writer, json, "numa_node", object->numa_node);
	set_known(writer, json, "socket", object->package);
	return json;
}

static json_t *gpu_object(struct rna_json_writer *writer, const struct rna_topology *topology,
			  size_t i)
{
	const struct rna_gpu *gpu = &topology->gpus[i];
	json_t *json = function_object(writer, topology, gpu->object);
	char scratch[RNA_FIELD_TEXT_MAX];

	rna_json_set_text(writer, json, "vendor",
			  rna_gpu_vendor(topology->objects[gpu->object].vendor_id, scratch));
	rna_json_set_text(writer, json, "model", gpu->model);
	rna_json_set_text(writer, json, "uuid", gpu->uuid);
	rna_json_set_text(writer, json, "driver", gpu->driver);
	rna_json_set_value(writer, json, "minor", gpu->minor);
	rna_json_set(writer, json, "os_devices", json_integer(gpu->os_devices));
	rna_json_set_text(writer, json, "nic", nic_address(topology, topology->affinities[i].nic));
	return json;
}

static json_t *nic_object(struct rna_json_writer *writer, const struct rna_topology *topology,
			  const struct rna_nic *nic, const struct rna_cards *cards)
{
	json_t *json = function_object(writer, topology, nic->object);
	const struct rna_card *card = rna_card_at(cards, address_of(topology, nic->object));

	rna_json_set_text(writer, json, "card", card ? card->address : NULL);
	set_texts(writer, json, "devices", nic->devices, nic->device_count);
	set_texts(writer, json, "netdevs", nic->netdevs, nic->netdev_count);
	set_known(writer, json, "rail", nic->rail);
	rna_json_set(writer, json, "virtual_functions", json_integer(nic->virtual_functions));
	rna_json_set(writer, json, "scalable_functions", json_integer(nic->scalable_functions));
	rna_json_set(writer, json, "switch_management", json_boolean(nic->switch_management));
	if (nic->data_direct >= 0)
		rna_json_set_text(writer, json, "data_direct",
				  address_of(topology, (unsigned)nic->data_direct));
	return json;
}

static json_t *nearest_object(struct rna_json_writer *writer, const struct rna_topology *topology,
			      size_t gpu)
{
	const struct rna_gpu_affinity *affinity = &topology->affinities[gpu];
	json_t *json = json_object(), *nics = json_array();

	rna_json_set_text(writer, json, "gpu", address_of(topology, topology->gpus[gpu].object));
	for (size_t i = 0; i < affinity->nearest_count; i++)
		rna_json_append(writer, nics,
				rna_json_text(writer,
					      nic_address(topology, (int)affinity->nearest[i])));
	rna_json_set(writer, json, "nics", nics);
	if (affinity->nearest_count > 0)
		rna_json_set_text(writer, json, "class", rna_path_class_name(affinity->path));
	return json;
}

json_t *rna_json_topology(struct rna_json_writer *writer, const struct rna_topology *topology,
			  const struct rna_cards *cards)
{
	json_t *json = json_object(), *gpus = json_array(), *nics = json_array();
	json_t *nearest = json_array();

	for (size_t i = 0; i < topology->gpu_count; i++) {
		rna_json_append(writer, gpus, gpu_object(writer, topology, i));
		rna_json_append(writer, nearest, nearest_object(writer, topology, i));
	}
	for (size_t i = 0; i < topology->nic_count; i++)
		rna_json_append(writer, nics,
				nic_object(writer, topology, &topology->nics[i], cards));
	rna_json_set(writer, json, "hwloc", json_boolean(topology->hwloc));
	rna_json_set_text(writer, json, "problem", topology->problem);
	rna_json_set(writer, json, "gpus", gpus);
	rna_json_set(writer, json, "nics", nics);
	rna_json_set(writer, json, "nearest", nearest);
	return json;
}

/* -- The long form ----------------------------------------------------------------------------- */

/* GPUs come first, then NICs. */
static unsigned member(const struct rna_topology *topology, size_t i)
{
	return i < topology->gpu_count ? topology->gpus[i].object
				       : topology->nics[i - topology->gpu_count].object;
}

static json_t *pair_array(struct rna_json_writer *writer, const struct rna_topology *topology)
{
	size_t count = topology->gpu_count + topology->nic_count;
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++) {
			unsigned a = member(topology, i), b = member(topology, j);
			enum rna_path_class path = rna_topology_path(topology, a, b);
			json_t *pair = json_object();

			rna_json_set_text(writer, pair, "a", address_of(topology, a));
			rna_json_set_text(writer, pair, "b", address_of(topology, b));
			rna_json_set_text(writer, pair, "class", rna_path_class_name(path));
			rna_json_append(writer, array, pair);
		}
	return array;
}

static json_t *link_object(struct rna_json_writer *writer, const struct rna_pcie_link *link)
{
	json_t *json = json_object();

	rna_json_set_value(writer, json, "width", link->width);
	rna_json_set_value(writer, json, "max_width", link->max_width);
	rna_json_set_value(writer, json, "megatransfers_per_second", link->speed);
	rna_json_set_value(writer, json, "max_megatransfers_per_second", link->max_speed);
	return json;
}

static json_t *tree_object(struct rna_json_writer *writer, const struct rna_topology *topology,
			   unsigned number)
{
	const struct rna_pci_object *object = &topology->objects[number];
	json_t *json = function_object(writer, topology, number);

	rna_json_set_text(writer, json, "role", rna_pci_role_name(object->role));
	if (object->parent >= 0)
		rna_json_set_text(writer, json, "parent",
				  address_of(topology, (unsigned)object->parent));
	if (rna_value_is_known(object->link.width) || rna_value_is_known(object->link.speed))
		rna_json_set(writer, json, "link", link_object(writer, &object->link));
	return json;
}

void rna_write_topology_json(const struct rna_view *view, struct rna_strbuf *out)
{
	static const struct rna_topology none;
	const struct rna_topology *topology = rna_snapshot_topology(view->snapshot);
	struct rna_json_writer writer = {0};
	json_t *json, *tree = json_array();

	json = rna_json_topology(&writer, topology ? topology : &none, view->cards);
	rna_json_set_time(&writer, json, "time", view->snapshot->time.realtime);
	rna_json_set_text(&writer, json, "missing", rna_topology_why_little(topology));
	for (unsigned i = 0; topology && i < topology->object_count; i++)
		rna_json_append(&writer, tree, tree_object(&writer, topology, i));
	rna_json_set(&writer, json, "pairs", pair_array(&writer, topology ? topology : &none));
	rna_json_set(&writer, json, "tree", tree);
	rna_json_write(&writer, json, RNA_JSON_INDENT, out);
}
