// SPDX-License-Identifier: Apache-2.0
/* exporter/env/env_gpu.c: which of the chosen ports are for one GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/strbuf.h"

#include "env/env_ports.h"

/*
 * Two sockets. On the first a switch with two GPUs and two NICs; on the second a switch with a GPU
 * and two NICs. In front of them host bridges, numbered as RNA_NO_OBJECT's children.
 */
enum {
	BRIDGE_A,
	SWITCH_A,
	GPU_0,
	GPU_1,
	NIC_0,
	NIC_1,
	BRIDGE_B,
	SWITCH_B,
	GPU_2,
	NIC_2,
	NIC_3,
	OBJECTS,
	GPUS = 3,
	NICS = 4,
	PORTS = 5, /* one of each NIC, and one of a device without a place */
};

static const struct rna_pci_object objects[OBJECTS] = {
	[BRIDGE_A] = {.address = "pci0000:00", .role = RNA_PCI_HOST_BRIDGE, .parent = -1},
	[SWITCH_A] = {.address = "0000:01:00.0", .role = RNA_PCI_UPSTREAM, .parent = BRIDGE_A},
	[GPU_0] = {.address = "0000:02:00.0", .role = RNA_PCI_GPU, .parent = SWITCH_A},
	[GPU_1] = {.address = "0000:03:00.0", .role = RNA_PCI_GPU, .parent = SWITCH_A},
	[NIC_0] = {.address = "0000:04:00.0", .role = RNA_PCI_NIC, .parent = SWITCH_A},
	[NIC_1] = {.address = "0000:05:00.0", .role = RNA_PCI_NIC, .parent = SWITCH_A},
	[BRIDGE_B] = {.address = "pci0000:80",
		      .role = RNA_PCI_HOST_BRIDGE,
		      .parent = -1,
		      .numa_node = 1},
	[SWITCH_B] = {.address = "0000:81:00.0",
		      .role = RNA_PCI_UPSTREAM,
		      .parent = BRIDGE_B,
		      .numa_node = 1},
	[GPU_2] = {.address = "0000:82:00.0",
		   .role = RNA_PCI_GPU,
		   .parent = SWITCH_B,
		   .numa_node = 1},
	[NIC_2] = {.address = "0000:84:00.0",
		   .role = RNA_PCI_NIC,
		   .parent = SWITCH_B,
		   .numa_node = 1},
	[NIC_3] = {.address = "0000:85:00.0",
		   .role = RNA_PCI_NIC,
		   .parent = SWITCH_B,
		   .numa_node = 1},
};

static const struct rna_gpu gpus[GPUS] = {{.object = GPU_0}, {.object = GPU_1}, {.object = GPU_2}};

struct node {
	struct rna_arena *arena;
	const char *names[PORTS];
	struct rna_nic nics[NICS];
	struct rna_topology topology;
	struct rna_device devices[PORTS];
	struct rna_snapshot_device of_snapshot[PORTS];
	struct rna_subject subjects[PORTS];
	const struct rna_subject *items[PORTS];
	struct rna_env_left_out left_out[4];
};

static void make(struct node *node, struct rna_arena *arena)
{
	static const char *const names[PORTS] = {"n0", "n1", "n2", "n3", "stray"};
	static const unsigned places[NICS] = {NIC_0, NIC_1, NIC_2, NIC_3};

	*node = (struct node){.arena = arena};
	for (size_t i = 0; i < PORTS; i++) {
		node->names[i] = names[i];
		node->devices[i] = (struct rna_device){.name = names[i]};
		node->of_snapshot[i].device = &node->devices[i];
		node->subjects[i] =
			(struct rna_subject){.device = &node->of_snapshot[i], .port = 1};
	}
	for (size_t i = 0; i < NICS; i++)
		node->nics[i] = (struct rna_nic){.object = places[i],
						 .rdma = RNA_NIC_RDMA_PRESENT,
						 .data_direct = RNA_NO_OBJECT,
						 .devices = &node->names[i],
						 .device_count = 1,
						 .lag = -1};
	node->topology = (struct rna_topology){
		.object_count = OBJECTS,
		.objects = objects,
		.gpu_count = GPUS,
		.gpus = gpus,
		.nic_count = NICS,
		.nics = node->nics,
	};
	assert_int_equal(rna_topology_assign(&node->topology, node->nics, NULL, NULL, arena), 0);
}

/* ports: one digit for each chosen port, as the result has them: "02". */
static struct rna_env_ports choose(struct node *node, const char *ports)
{
	struct rna_env_ports ret = {.items = node->items,
				    .left_out = node->left_out,
				    .why = "for all"};

	for (const char *c = ports; *c; c++)
		node->items[ret.count++] = &node->subjects[*c - '0'];
	return ret;
}

/* Of the ports that remain, the digits; behind it the reasons, with the ports of each. */
static void show(const struct node *node, const struct rna_env_ports *ports, struct rna_strbuf *out)
{
	for (size_t i = 0; i < ports->count; i++)
		rna_strbuf_printf(out, "%td", ports->items[i] - node->subjects);
	for (size_t i = 0; i < ports->left_out_count; i++) {
		const struct rna_env_left_out *left_out = &ports->left_out[i];

		rna_strbuf_printf(out, "; %s:", left_out->reason);
		for (size_t j = 0; j < left_out->count; j++)
			rna_strbuf_printf(out, " %s", left_out->ports[j]);
	}
}

static void test_ports_of_a_gpu(void **state)
{
	static const struct {
		unsigned gpu;
		const char *ports, *expected, *why, *warning;
	} cases[] = {
		/* each of two GPUs below a switch has its own NIC */
		{0, "0123",
		 "0; farther from GPU 0 than PIX: n2/1 n3/1; as near to GPU 0, but the NIC of "
		 "another: n1/1",
		 "PIX from GPU 0 (0000:02:00.0): at most one PCIe switch in between", NULL},
		{1, "0123",
		 "1; farther from GPU 1 than PIX: n2/1 n3/1; as near to GPU 1, but the NIC of "
		 "another: n0/1",
		 "PIX from GPU 1", NULL},
		/* a GPU that is alone there has both */
		{2, "0123", "23; farther from GPU 2 than PIX: n0/1 n1/1", "PIX from GPU 2", NULL},
		/* its own is not among the chosen: that of its neighbour */
		{0, "123", "1; farther from GPU 0 than PIX: n2/1 n3/1", "PIX from GPU 0",
		 "the NIC of GPU 0, n0, has no port that can be used; those listed serve other "
		 "GPUs, too"},
		/* none below its switch: on the other socket that which is no GPU's own */
		{0, "23", "3; as near to GPU 0, but the NIC of another: n2/1",
		 "SYS from GPU 0 (0000:02:00.0): on another NUMA node",
		 "those listed are the nearest of the others"},
		/* a device without a place is farther than any other */
		{2, "24", "2; farther from GPU 2 than PIX: stray/1", "PIX from GPU 2", NULL},
		{2, "4", "4", "which of them is nearest to GPU 2 is not known", "is not known"},
		{2, "", "", "for all", NULL},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
		struct rna_env_ports ports;
		const char *warning;
		struct node node;

		make(&node, arena);
		ports = choose(&node, cases[i].ports);
		assert_int_equal(rna_env_ports_of_gpu(&node.topology, cases[i].gpu, arena, &ports,
						      &warning),
				 0);
		show(&node, &ports, &text);
		rna_strbuf_puts(&text, "");
		assert_string_equal(text.data ? text.data : "", cases[i].expected);
		assert_non_null(strstr(ports.why, cases[i].why));
		assert_int_equal(!warning, !cases[i].warning);
		if (warning)
			assert_non_null(strstr(warning, cases[i].warning));
	}
}

/* What the choice for the node left out stays where it is. */
static void test_reasons_of_before_stay(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	const char *down = "n1/1";
	struct rna_env_ports ports;
	const char *warning;
	struct node node;

	(void)state;
	make(&node, arena);
	ports = choose(&node, "02");
	node.left_out[0] =
		(struct rna_env_left_out){.reason = "not ACTIVE", .count = 1, .ports = &down};
	ports.left_out_count = 1;
	assert_int_equal(rna_env_ports_of_gpu(&node.topology, 0, arena, &ports, &warning), 0);
	assert_int_equal(ports.left_out_count, 2);
	assert_string_equal(ports.left_out[0].reason, "not ACTIVE");
	assert_string_equal(ports.left_out[1].ports[0], "n2/1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports_of_a_gpu),
		cmocka_unit_test(test_reasons_of_before_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
