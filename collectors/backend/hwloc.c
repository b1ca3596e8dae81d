// SPDX-License-Identifier: Apache-2.0
/*
 * hwloc: locality of PCI functions, from this machine or from a file of lstopo.
 *
 * On a live machine the discovery of OS devices is off: hwloc would read state, LID and every GID
 * of every HCA, some hundred firmware commands, any of which may hang. Its x86 component is off,
 * too, because it binds the calling thread to each CPU in turn, including isolated ones; and so are
 * the components that query GPUs. The rest reads /sys and the config space of each function.
 */
#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "hwloc_xml.h"
#include "recorded.h"

enum {
	/*
	 * A machine with 24 sockets has a third of a megabyte and 1,300 objects; some 20 levels are
	 * usual. libhwloc (2.9) calls itself for each level, 480 bytes of stack each: 200,000
	 * levels end any process, lstopo as well, and some thousand the 512 KiB of a lane. Its time
	 * is quadratic in objects side by side: 20,000 take half a second.
	 */
	XML_MAX = 16 << 20, /* bytes */
	LEVELS_MAX = 64,
	OBJECTS_MAX = 20000,
	LOCATION_MAX = 32, /* "pci0000:3a" and "0000:3b:00.0" */
	PREFIX_MAX = 16,   /* "cuda", "renderD" */
	KINDS_MAX = 16,    /* kinds of OS devices on one GPU */
};

struct load {
	hwloc_topology_t topology;
	struct rna_arena *arena;
	struct rna_hwloc_function *functions;
	size_t count;
	bool no_memory;
};

/* -- One function ------------------------------------------------------------------------------ */

static bool is_host_bridge(hwloc_obj_t object)
{
	return object->type == HWLOC_OBJ_BRIDGE &&
	       object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST &&
	       object->attr->bridge.downstream_type == HWLOC_OBJ_BRIDGE_PCI;
}

static bool is_pci(hwloc_obj_t object)
{
	return object->type == HWLOC_OBJ_PCI_DEVICE ||
	       (object->type == HWLOC_OBJ_BRIDGE &&
		object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI);
}

static const struct hwloc_pcidev_attr_s *pci_of(hwloc_obj_t object)
{
	return object->type == HWLOC_OBJ_PCI_DEVICE ? &object->attr->pcidev
						    : &object->attr->bridge.upstream.pci;
}

static void write_location(hwloc_obj_t object, char ret[LOCATION_MAX])
{
	const struct hwloc_pcidev_attr_s *pci;

	if (is_host_bridge(object)) {
		(void)snprintf(ret, LOCATION_MAX, "pci%04x:%02x",
			       (unsigned)object->attr->bridge.downstream.pci.domain,
			       (unsigned)object->attr->bridge.downstream.pci.secondary_bus);
		return;
	}
	pci = pci_of(object);
	(void)snprintf(ret, LOCATION_MAX, "%04x:%02x:%02x.%01x", (unsigned)pci->domain,
		       (unsigned)pci->bus, (unsigned)pci->dev, (unsigned)pci->func);
}

/* Builds the path from its end, while walking up. */
static const char *path_of(struct load *load, hwloc_obj_t object)
{
	char text[PATH_MAX], location[LOCATION_MAX];
	size_t at = sizeof(text) - 1;

	text[at] = '\0';
	for (; object && (is_pci(object) || is_host_bridge(object)); object = object->parent) {
		size_t len;

		write_location(object, location);
		len = strlen(location);
		if (at < len + 1)
			return NULL; /* deeper than any machine */
		if (text[at] != '\0')
			text[--at] = '/';
		at -= len;
		memcpy(text + at, location, len);
	}
	return rna_arena_strdup(load->arena, text + at);
}

/* The NUMA node of place. -1: it spans several, or all. */
static int node_of(hwloc_topology_t topology, hwloc_obj_t place)
{
	hwloc_obj_t node = NULL, best = NULL;

	while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node))) {
		if (hwloc_bitmap_iszero(node->cpuset))
			continue; /* memory of a GPU */
		if (!hwloc_bitmap_isincluded(place->cpuset, node->cpuset)) {
			if (hwloc_bitmap_isincluded(node->cpuset, place->cpuset))
				return -1;
			continue;
		}
		if (!best || hwloc_bitmap_weight(node->cpuset) < hwloc_bitmap_weight(best->cpuset))
			best = node;
	}
	return best ? (int)best->os_index : -1;
}

static int package_of(hwloc_obj_t place)
{
	while (place && place->type != HWLOC_OBJ_PACKAGE)
		place = place->parent;
	return place && place->os_index != HWLOC_UNKNOWN_INDEX ? (int)place->os_index : -1;
}

/* -- OS devices -------------------------------------------------------------------------------- */

static bool is_of_type(hwloc_obj_t object, hwloc_obj_osdev_type_t type)
{
#if HWLOC_API_VERSION >= 0x00030000
	return object->attr->osdev.types & type;
#else
	return object->attr->osdev.type == type;
#endif
}

static bool has_second_port(hwloc_obj_t device)
{
	return hwloc_obj_get_info_by_name(device, "Port2State") != NULL;
}

/*
 * Is it the SMI device of a multi-plane card? It is on the function of its HCA and has its node
 * GUID (mlx5_query_node_guid() of Linux 6.11 asks the function), but a port for each plane, where
 * the HCA has one. hwloc notes both, and not that it has no uverbs.
 */
static bool is_smi_device(hwloc_obj_t function, hwloc_obj_t device)
{
	const char *guid = hwloc_obj_get_info_by_name(device, "NodeGUID");

	if (!guid || !has_second_port(device))
		return false;
	for (hwloc_obj_t child = function->io_first_child; child; child = child->next_sibling) {
		const char *other = hwloc_obj_get_info_by_name(child, "NodeGUID");

		if (other && strcmp(other, guid) == 0 && !has_second_port(child))
			return true;
	}
	return false;
}

static const char *const *names_of(struct load *load, hwloc_obj_t object,
				   hwloc_obj_osdev_type_t type)
{
	const char **names;
	size_t count = 0;

	names = rna_arena_array(load->arena, object->io_arity + 1, sizeof(*names));
	for (hwloc_obj_t child = object->io_first_child; names && child;
	     child = child->next_sibling) {
		if (child->type != HWLOC_OBJ_OS_DEVICE || !is_of_type(child, type) ||
		    !child->name || is_smi_device(object, child))
			continue;
		names[count] = rna_arena_strdup(load->arena, child->name);
		load->no_memory |= !names[count++];
	}
	load->no_memory |= !names;
	return names;
}

/* "cuda1", "nvml1" and "renderD129" are one GPU; "rsmi0" to "rsmi5" are six. */
static unsigned count_gpus(hwloc_obj_t object)
{
	struct {
		char prefix[PREFIX_MAX];
		unsigned count;
	} kinds[KINDS_MAX] = {{{0}, 0}};
	unsigned most = 0;

	for (hwloc_obj_t child = object->io_first_child; child; child = child->next_sibling) {
		size_t len = child->name ? strcspn(child->name, "0123456789") : 0, i = 0;

		if (child->type != HWLOC_OBJ_OS_DEVICE || len == 0 || len >= PREFIX_MAX)
			continue;
		while (i < KINDS_MAX - 1 && kinds[i].count > 0 &&
		       (strncmp(kinds[i].prefix, child->name, len) != 0 ||
			kinds[i].prefix[len] != '\0'))
			i++;
		memcpy(kinds[i].prefix, child->name, len);
		kinds[i].prefix[len] = '\0';
		kinds[i].count++;
		most = kinds[i].count > most ? kinds[i].count : most;
	}
	return most;
}

/* An info of an OS device of the GPU, under either name. NULL: none. */
static const char *info_of(struct load *load, hwloc_obj_t object, const char *name,
			   const char *other_name)
{
	const char *text = NULL;

	for (hwloc_obj_t child = object->io_first_child; child && !text;
	     child = child->next_sibling) {
		text = hwloc_obj_get_info_by_name(child, name);
		if (!text)
			text = hwloc_obj_get_info_by_name(child, other_name);
	}
	return rna_arena_keep(load->arena, text, &load->no_memory);
}

/* -- The tree ---------------------------------------------------------------------------------- */

static void add(struct load *load, hwloc_obj_t object)
{
	hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(load->topology, object);
	const struct hwloc_pcidev_attr_s *pci = is_pci(object) ? pci_of(object) : NULL;
	struct rna_hwloc_function *function = &load->functions[load->count];

	*function = (struct rna_hwloc_function){
		.path = path_of(load, object),
		.class_id = pci ? pci->class_id : 0,
		.vendor_id = pci ? pci->vendor_id : 0,
		.device_id = pci ? pci->device_id : 0,
		.numa_node = place ? node_of(load->topology, place) : -1,
		.package = package_of(place),
		.netdevs = names_of(load, object, HWLOC_OBJ_OSDEV_NETWORK),
		.devices = names_of(load, object, HWLOC_OBJ_OSDEV_OPENFABRICS),
		.os_devices = count_gpus(object),
		.model = info_of(load, object, "GPUModel", "AMDProductName"),
		.uuid = info_of(load, object, "NVIDIAUUID", "AMDUUID"),
	};
	load->no_memory |= !function->path;
	load->count += function->path != NULL;
}

static int take_functions(struct load *load, struct rna_hwloc *ret)
{
	hwloc_obj_t object = NULL;
	size_t count = 0;

	while ((object = hwloc_get_next_bridge(load->topology, object)))
		count++;
	while ((object = hwloc_get_next_pcidev(load->topology, object)))
		count++;
	load->functions = rna_arena_array(load->arena, count + 1, sizeof(*load->functions));
	if (!load->functions)
		return -ENOMEM;
	while ((object = hwloc_get_next_bridge(load->topology, object)))
		if (is_pci(object) || is_host_bridge(object))
			add(load, object);
	while ((object = hwloc_get_next_pcidev(load->topology, object)))
		add(load, object);
	if (load->no_memory)
		return -ENOMEM;
	*ret = (struct rna_hwloc){.count = load->count, .functions = load->functions};
	return 0;
}

/* -- Loading ----------------------------------------------------------------------------------- */

static void destroy(const hwloc_topology_t *topology)
{
	if (*topology)
		hwloc_topology_destroy(*topology);
}

static int init(hwloc_topology_t *ret, enum hwloc_type_filter_e os_devices)
{
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology) < 0)
		return -ENOMEM;
	*ret = topology;
	/* devices may also be near CPUs that this process may not use */
	if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) < 0 ||
	    hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) < 0 ||
	    hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) < 0 ||
	    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL) < 0 ||
	    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_OS_DEVICE, os_devices) < 0)
		return -errno;
	return 0;
}

/* *ret: the topology of this machine; the caller destroys it, also on failure. */
static int discover(hwloc_topology_t *ret)
{
	static const char *const unwanted[] = {"x86",  "cuda",      "nvml", "opencl",
					       "rsmi", "levelzero", "gl"};
	int status = init(ret, HWLOC_TYPE_FILTER_KEEP_NONE);

	for (size_t i = 0; status == 0 && i < RNA_ARRAY_SIZE(unwanted); i++)
		(void)hwloc_topology_set_components(*ret, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
						    unwanted[i]); /* fails if not built in */
	return status == 0 && hwloc_topology_load(*ret) < 0 ? -errno : status;
}

static int load_live(struct rna_arena *arena, struct rna_hwloc *ret, struct rna_error *error)
{
	RNA_CLEANUP(destroy) hwloc_topology_t topology = NULL;
	struct load load = {.arena = arena};
	int status = discover(&topology);

	if (status == 0) {
		load.topology = topology;
		status = take_functions(&load, ret);
	}
	return status < 0 ? rna_error_set(error, status,
					  "hwloc cannot read the topology of this machine")
			  : 0;
}

static int write_live(const struct rna_root *root, struct rna_arena *arena, char **ret,
		      struct rna_error *error)
{
	RNA_CLEANUP(destroy) hwloc_topology_t topology = NULL;
	int status = discover(&topology), len;
	char *text;

	(void)root; /* it is live: its /sys is the kernel's, and so is ours */
	if (status == 0 && hwloc_topology_export_xmlbuffer(topology, &text, &len, 0) < 0)
		status = -errno;
	if (status < 0)
		return rna_error_set(error, status,
				     "hwloc cannot read the topology of this machine");
	*ret = rna_arena_strdup(arena, text);
	hwloc_free_xmlbuffer(topology, text);
	return *ret ? 0 : -ENOMEM;
}

/* *ret: freed by the caller. Its length, or negative errno. */
static ssize_t read_file(int fd, char **ret)
{
	RNA_FREE char *text = NULL;
	struct stat stat;
	ssize_t len;

	if (fstat(fd, &stat) < 0)
		return -errno;
	if (!S_ISREG(stat.st_mode))
		return -EINVAL;
	if (stat.st_size > XML_MAX)
		return -EFBIG;
	text = malloc((size_t)stat.st_size + 1);
	if (!text)
		return -ENOMEM;
	len = pread(fd, text, (size_t)stat.st_size, 0);
	if (len < 0)
		return -errno;
	text[len] = '\0';
	*ret = RNA_TAKE(text);
	return len;
}

#define WRITE_ANEW "write it again on that node with lstopo of hwloc 1.11 or 2: lstopo FILE.xml"

/* Finds the likely reason why hwloc rejected the file; hwloc itself returns only EINVAL. */
static int explain(const char *file, const char *text, size_t len, struct rna_error *error)
{
	const char *root = strstr(text, "<topology");
	const char *version = root ? strstr(root, "version=\"") : NULL;

	if (strspn(text, " \t\r\n") == len)
		return rna_error_say(error, -EBADMSG, "%s: file is empty; " WRITE_ANEW, file);
	if (!root)
		return rna_error_say(
			error, -EBADMSG,
			"%s: not an hwloc topology (no <topology> element); " WRITE_ANEW, file);
	if (version && version < root + strcspn(root, ">") &&
	    strtoul(version + strlen("version=\""), NULL, 10) > HWLOC_API_VERSION >> 16)
		return rna_error_say(error, -EPROTONOSUPPORT,
				     "%s: written by a newer hwloc than the library here (%d.%d); "
				     "write it again with lstopo --export-xml-flags v2 FILE.xml",
				     file, HWLOC_API_VERSION >> 16, HWLOC_API_VERSION >> 8 & 0xff);
	return rna_error_say(error, -EBADMSG, "%s: hwloc cannot parse it; " WRITE_ANEW, file);
}

/* end: there is none. */
static const char *find(const char *from, const char *end, char wanted)
{
	const char *found = memchr(from, wanted, (size_t)(end - from));

	return found ? found : end;
}

/* libhwloc, too, takes the next ">" for the end of a tag. */
static int check_limits(const char *file, const char *text, size_t len, struct rna_error *error)
{
	static const char object[] = "<object";
	const char *end = text + len, *close;
	size_t levels = 0, objects = 0;

	for (const char *tag = find(text, end, '<'); tag < end; tag = find(close, end, '<')) {
		close = find(tag, end, '>');
		objects += (size_t)(close - tag) >= sizeof(object) - 1 &&
			   memcmp(tag, object, sizeof(object) - 1) == 0;
		if (tag[1] == '/')
			levels -= levels > 0;
		else if (tag[1] != '?' && tag[1] != '!' && close[-1] != '/')
			levels++;
		if (levels > LEVELS_MAX)
			return rna_error_say(error, -EBADMSG,
					     "%s: more than %d levels of elements; " WRITE_ANEW,
					     file, LEVELS_MAX);
		if (objects > OBJECTS_MAX)
			return rna_error_say(error, -EBADMSG,
					     "%s: more than %d objects; " WRITE_ANEW, file,
					     OBJECTS_MAX);
	}
	return 0;
}

static int load_text(const char *file, const char *text, size_t len, struct rna_arena *arena,
		     struct rna_hwloc *ret, struct rna_error *error)
{
	RNA_CLEANUP(destroy) hwloc_topology_t topology = NULL;
	RNA_STRBUF struct rna_strbuf xml = RNA_STRBUF_INIT;
	struct load load = {.arena = arena};
	int status = init(&topology, HWLOC_TYPE_FILTER_KEEP_ALL);

	if (status < 0)
		return rna_error_set(error, status, "%s: cannot start hwloc", file);
	status = check_limits(file, text, len, error);
	if (status < 0)
		return status;
	if (strlen(text) != len || rna_hwloc_xml_read(text, len, &xml) < 0)
		return explain(file, text, len, error);
	if (!rna_strbuf_ok(&xml))
		return rna_error_set(error, -ENOMEM, "%s: cannot read", file);
	if (hwloc_topology_set_xmlbuffer(topology, xml.data, (int)xml.len + 1) < 0 ||
	    hwloc_topology_load(topology) < 0)
		return explain(file, text, len, error);
	load.topology = topology;
	status = take_functions(&load, ret);
	return status < 0 ? rna_error_set(error, status, "%s: cannot store the topology", file) : 0;
}

/* fd: open, or negative errno; -ENOENT is normal only if the file was not configured. */
static int load_file(const char *file, int fd, struct rna_arena *arena, struct rna_hwloc *ret,
		     struct rna_error *error)
{
	RNA_FREE char *text = NULL;
	ssize_t len = fd < 0 ? fd : read_file(fd, &text);

	if (len == -EFBIG)
		return rna_error_say(error, -EFBIG, "%s: larger than %d MiB; " WRITE_ANEW, file,
				     XML_MAX >> 20);
	if (len < 0)
		return rna_error_set(error, (int)len, "%s: cannot read", file);
	return load_text(file, text, (size_t)len, arena, ret, error);
}

static int load_named(const char *file, struct rna_arena *arena, struct rna_hwloc *ret,
		      struct rna_error *error)
{
	RNA_CLOSE int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int status = load_file(file, fd < 0 ? -errno : fd, arena, ret, error);

	return status == -ENOENT ? -ENXIO : status; /* a configured file must exist */
}

static int load_machine(const struct rna_root *root, const char *file, struct rna_arena *arena,
			struct rna_hwloc *ret, struct rna_error *error)
{
	(void)root; /* it is live: its /sys is the kernel's, and so is ours */
	return file ? load_named(file, arena, ret, error) : load_live(arena, ret, error);
}

static int load_recorded(const struct rna_root *root, const char *file, struct rna_arena *arena,
			 struct rna_hwloc *ret, struct rna_error *error)
{
	RNA_CLOSE int fd = -1;

	if (file)
		return load_named(file, arena, ret, error);
	fd = rna_root_openat(root, RNA_RECORDED_HWLOC, O_RDONLY | O_NONBLOCK);
	return load_file(RNA_RECORDED_HWLOC, fd, arena, ret, error);
}

const struct rna_hwloc_backend rna_hwloc = {.load = load_machine, .write = write_live};
const struct rna_hwloc_backend rna_recorded_hwloc = {.load = load_recorded};
