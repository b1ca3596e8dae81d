// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/loopback/queue_pairs: how a port is addressed and its memory registered, on a made-up
 * HCA. The HCA refuses what the kernel refuses, and lists what it was asked for.
 */
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"

#include "loopback/queue_pairs.h"

/* -- An HCA ------------------------------------------------------------------------------------ */

enum { PKEYS = 4, QPS = 2, ABSENT = 0xfff };

static struct hca {
	/* what it has */
	struct ibv_port_attr port;
	uint64_t gids[2];      /* of the interface; 0: none */
	unsigned pkeys[PKEYS]; /* ABSENT: cannot be read */
	bool strict;           /* needs a GRH */
	int refusal;           /* errno of relaxed ordering; 0: accepted */
	bool relaxed;          /* what is asked for */
	/* what it was asked for */
	unsigned qps;
	struct ibv_ah_attr address;
	unsigned pkey_index;
	unsigned access;
	/* its objects */
	struct ibv_device device;
	struct verbs_context context;
	struct ibv_pd pd;
	struct ibv_cq cq;
	struct ibv_mr mr;
	struct ibv_qp queue_pairs[QPS];
} hca;

int __wrap_access(const char *path, int mode);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
struct ibv_device **__wrap_ibv_get_device_list(int *count);
void __wrap_ibv_free_device_list(struct ibv_device **list);
const char *__wrap_ibv_get_device_name(struct ibv_device *device);
struct ibv_context *__wrap_ibv_open_device(struct ibv_device *device);
int __wrap_ibv_close_device(struct ibv_context *context);
int __wrap_ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid);
int __wrap_ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey);
struct ibv_pd *__wrap_ibv_alloc_pd(struct ibv_context *context);
int __wrap_ibv_dealloc_pd(struct ibv_pd *pd);
struct ibv_mr *__wrap_ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				       unsigned access);
int __wrap_ibv_dereg_mr(struct ibv_mr *mr);
struct ibv_cq *__wrap_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
				    struct ibv_comp_channel *channel, int vector);
int __wrap_ibv_destroy_cq(struct ibv_cq *cq);
struct ibv_qp *__wrap_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int __wrap_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int __wrap_ibv_destroy_qp(struct ibv_qp *qp);

/* The device and its file are there. */
int __wrap_access(const char *path, int mode)
{
	(void)path, (void)mode;
	return 0;
}

int __wrap_open64(const char *path, int flags, ...)
{
	(void)path, (void)flags;
	return dup(STDERR_FILENO);
}

int __wrap_open(const char *path, int flags, ...)
{
	(void)path, (void)flags;
	return dup(STDERR_FILENO);
}

struct ibv_device **__wrap_ibv_get_device_list(int *count)
{
	static struct ibv_device *list[] = {&hca.device, NULL};

	*count = 1;
	return list;
}

void __wrap_ibv_free_device_list(struct ibv_device **list)
{
	assert_non_null(list);
}

const char *__wrap_ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

static int query_port(struct ibv_context *context, uint8_t number, struct ibv_port_attr *attr,
		      size_t size)
{
	assert_ptr_equal(context, &hca.context.context);
	assert_int_equal(number, 1);
	memcpy(attr, &hca.port, size < sizeof(hca.port) ? size : sizeof(hca.port));
	return 0;
}

struct ibv_context *__wrap_ibv_open_device(struct ibv_device *device)
{
	hca.context = (struct verbs_context){
		.query_port = query_port,
		.sz = sizeof(hca.context),
		.context = {.device = device, .abi_compat = __VERBS_ABI_IS_EXTENDED},
	};
	return &hca.context.context;
}

int __wrap_ibv_close_device(struct ibv_context *context)
{
	assert_ptr_equal(context, &hca.context.context);
	return 0;
}

int __wrap_ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	(void)context, (void)port;
	if (index >= (int)RNA_ARRAY_SIZE(hca.gids))
		return -1;
	gid->global.subnet_prefix = htobe64(hca.gids[index] ? 0xfe80ULL << 48 : 0);
	gid->global.interface_id = htobe64(hca.gids[index]);
	return 0;
}

int __wrap_ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	(void)context, (void)port;
	if (index >= PKEYS || hca.pkeys[index] == ABSENT)
		return -1;
	*pkey = htobe16((uint16_t)hca.pkeys[index]);
	return 0;
}

struct ibv_pd *__wrap_ibv_alloc_pd(struct ibv_context *context)
{
	hca.pd.context = context;
	return &hca.pd;
}

int __wrap_ibv_dealloc_pd(struct ibv_pd *pd)
{
	assert_ptr_equal(pd, &hca.pd);
	return 0;
}

/* Access flags beyond those that every HCA has are optional; a driver may refuse them all the same.
 */
struct ibv_mr *__wrap_ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				       unsigned access)
{
	(void)pd, (void)addr, (void)length, (void)iova;
	hca.access = access;
	errno = hca.refusal;
	if (hca.refusal && (access & IBV_ACCESS_RELAXED_ORDERING))
		return NULL;
	return &hca.mr;
}

int __wrap_ibv_dereg_mr(struct ibv_mr *mr)
{
	assert_ptr_equal(mr, &hca.mr);
	return 0;
}

struct ibv_cq *__wrap_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
				    struct ibv_comp_channel *channel, int vector)
{
	(void)context, (void)cqe, (void)cq_context, (void)channel, (void)vector;
	return &hca.cq;
}

int __wrap_ibv_destroy_cq(struct ibv_cq *cq)
{
	assert_ptr_equal(cq, &hca.cq);
	return 0;
}

struct ibv_qp *__wrap_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	(void)pd, (void)attr;
	assert_true(hca.qps < QPS);
	hca.queue_pairs[hca.qps].qp_num = hca.qps;
	return &hca.queue_pairs[hca.qps++];
}

/* rdma_check_ah_attr() of Linux 6.12 refuses an address without GRH in the same way. */
int __wrap_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	if (mask & IBV_QP_PKEY_INDEX)
		hca.pkey_index = attr->pkey_index;
	if (!(mask & IBV_QP_AV))
		return 0;
	hca.address = attr->ah_attr;
	return hca.strict && !attr->ah_attr.is_global ? EINVAL : 0;
}

int __wrap_ibv_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	assert_true(hca.qps > 0);
	hca.qps--;
	return 0;
}

/* -- How it is addressed ----------------------------------------------------------------------- */

/* An active InfiniBand port in the default partition; as make() leaves hca, tests change it. */
static void reset(void)
{
	hca = (struct hca){
		.port = {.state = IBV_PORT_ACTIVE,
			 .link_layer = IBV_LINK_LAYER_INFINIBAND,
			 .active_mtu = IBV_MTU_4096,
			 .lid = 7,
			 .pkey_tbl_len = PKEYS},
		.gids = {0x1070fd0300000001},
		.pkeys = {0xffff},
		.device = {.name = "mlx5_0",
			   .dev_name = "uverbs0",
			   .transport_type = IBV_TRANSPORT_IB},
	};
}

/* It needs a GRH, and says so. */
static void require_grh(void)
{
	hca.strict = true;
	hca.port.flags = IBV_QPF_GRH_REQUIRED;
}

/* Opens the port as a test would and closes it again. True: a test could begin. */
static bool try_port(int gid_index, struct rna_loopback_result *ret)
{
	struct rna_loopback_request request = {
		.device = "mlx5_0",
		.port = 1,
		.gid_index = gid_index,
		.memory_node = -1,
		.size = 4096,
		.qps = 1,
		.depth = 16,
		.relaxed_ordering = hca.relaxed,
	};
	struct rna_loopback_memory memory = RNA_LOOPBACK_MEMORY_INIT;
	struct rna_loopback_verbs *verbs;

	*ret = (struct rna_loopback_result){.end = RNA_LOOPBACK_FAILED};
	verbs = rna_loopback_verbs_open(&request, &memory, ret);
	(void)rna_loopback_verbs_close(verbs);
	rna_loopback_memory_free(&memory);
	assert_int_equal(hca.qps, 0);
	return verbs;
}

static void assert_skipped(int gid_index, enum rna_skip skip, const char *text)
{
	struct rna_loopback_result result;

	assert_false(try_port(gid_index, &result));
	assert_int_equal(result.end, RNA_LOOPBACK_SKIPPED);
	assert_int_equal(result.skip, skip);
	assert_string_equal(result.text, text);
}

static void test_by_lid(void **state)
{
	struct rna_loopback_result result;

	(void)state;
	reset();
	assert_true(try_port(-1, &result));
	assert_int_equal(hca.address.is_global, 0);
	assert_int_equal(hca.address.dlid, 7);
	hca.port.lid = 0;
	assert_skipped(-1, RNA_SKIP_NO_GID, "mlx5_0/1: no LID: no subnet manager has given it one");
}

/* perftest#393: its address has no GRH, and it fails on such a port. */
static void test_a_port_that_requires_a_grh(void **state)
{
	struct rna_loopback_result result;

	(void)state;
	reset();
	require_grh();
	assert_true(try_port(-1, &result));
	assert_int_equal(hca.address.is_global, 1);
	assert_int_equal(hca.address.dlid, 7);
	assert_int_equal(hca.address.grh.sgid_index, 0);
	assert_int_equal(be64toh(hca.address.grh.dgid.global.interface_id), hca.gids[0]);
	hca.gids[1] = 0x1070fd0300000002;
	assert_true(try_port(1, &result)); /* the index that was asked for */
	assert_int_equal(hca.address.grh.sgid_index, 1);
	assert_int_equal(be64toh(hca.address.grh.dgid.global.interface_id), hca.gids[1]);
	hca.gids[0] = 0;
	assert_skipped(-1, RNA_SKIP_NO_GID, "mlx5_0/1: no GID at index 0 to connect to");
	hca.gids[0] = hca.gids[1];
	hca.port.lid = 0;
	assert_skipped(-1, RNA_SKIP_NO_GID, "mlx5_0/1: no LID: no subnet manager has given it one");
}

/* A kernel that does not say it: the text has what was tried. */
static void test_an_address_that_is_refused(void **state)
{
	struct rna_loopback_result result;

	(void)state;
	reset();
	hca.strict = true;
	hca.pkeys[0] = 0x7fff;
	hca.pkeys[1] = 0xffff;
	assert_false(try_port(-1, &result));
	assert_int_equal(result.end, RNA_LOOPBACK_FAILED);
	assert_string_equal(result.text, "mlx5_0/1: cannot connect it to itself (GID index -1, "
					 "P_Key index 1): Invalid argument");
}

static void test_partitions(void **state)
{
	static const struct {
		unsigned pkeys[PKEYS];
		int index; /* -1: none */
	} cases[] = {
		{{0xffff}, 0},
		{{0x7fff, 0xffff}, 1},
		{{0x7fff, 0x8001}, 1},
		{{0x7fff, 0, 0x8000, 0x9234}, 3}, /* 0x8000 has no partition */
		{{ABSENT, 0xffff}, 1},
		{{0x7fff}, -1},
		{{0x7fff, 0x1, ABSENT, 0x8000}, -1},
	};
	struct rna_loopback_result result;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		reset();
		memcpy(hca.pkeys, cases[i].pkeys, sizeof(hca.pkeys));
		if (cases[i].index < 0) {
			assert_skipped(-1, RNA_SKIP_NO_PKEY,
				       "mlx5_0/1: is a full member of no partition, and limited "
				       "members may not talk to each other");
			continue;
		}
		assert_true(try_port(-1, &result));
		assert_int_equal(hca.pkey_index, cases[i].index);
	}
	reset();
	hca.port.pkey_tbl_len = 1;
	hca.pkeys[0] = ABSENT;
	assert_skipped(-1, RNA_SKIP_NO_PKEY, "mlx5_0/1: its P_Key table cannot be read");
}

/* RoCE has one P_Key, 0xffff, which not every driver lists. */
static void test_ethernet(void **state)
{
	struct rna_loopback_result result;

	(void)state;
	reset();
	hca.port.link_layer = IBV_LINK_LAYER_ETHERNET;
	hca.port.lid = 0;
	hca.pkeys[0] = ABSENT;
	require_grh(); /* as the kernel says of all RoCE ports */
	hca.gids[1] = 0xffff0a090001;
	assert_true(try_port(1, &result));
	assert_int_equal(hca.pkey_index, 0);
	assert_int_equal(hca.address.grh.sgid_index, 1);
	assert_skipped(-1, RNA_SKIP_NO_GID, "mlx5_0/1: no GID at index -1 to connect to");
}

/* -- How its memory is registered -------------------------------------------------------------- */

static void test_relaxed_ordering(void **state)
{
	static const struct {
		bool wish;
		int refusal;
		bool begins, relaxed;
	} cases[] = {
		{true, 0, true, true},       {false, 0, true, false},
		{true, EINVAL, true, false}, {true, EOPNOTSUPP, true, false},
		{true, ENOMEM, false, true},
	};
	struct rna_loopback_result result;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		unsigned flag = cases[i].relaxed ? IBV_ACCESS_RELAXED_ORDERING : 0;

		reset();
		hca.relaxed = cases[i].wish;
		hca.refusal = cases[i].refusal;
		assert_int_equal(try_port(-1, &result), cases[i].begins);
		assert_int_equal(hca.access,
				 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | flag);
		assert_true(rna_value_is_known(result.relaxed_ordering));
		assert_int_equal(result.relaxed_ordering.number, cases[i].relaxed);
		/* there is no PCI function */
		assert_false(rna_value_is_known(result.pci_relaxed_ordering));
	}
}

/* Looking at the PCI function, which fails here, must not hide why there is no memory. */
static void test_registration_without_memory(void **state)
{
	struct rna_loopback_result result;

	(void)state;
	reset();
	hca.relaxed = true;
	hca.refusal = ENOMEM;
	assert_false(try_port(-1, &result));
	assert_int_equal(result.end, RNA_LOOPBACK_SKIPPED);
	if (result.skip != RNA_SKIP_MEMLOCK) /* the limit of who runs this test */
		assert_int_equal(result.skip, RNA_SKIP_NO_RESOURCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_lid),
		cmocka_unit_test(test_a_port_that_requires_a_grh),
		cmocka_unit_test(test_an_address_that_is_refused),
		cmocka_unit_test(test_partitions),
		cmocka_unit_test(test_ethernet),
		cmocka_unit_test(test_relaxed_ordering),
		cmocka_unit_test(test_registration_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
