// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/*
 * labvf - network interfaces of a NIC with virtual functions, for Linux 6.1
 *
 * What has them is QEMU's NVMe controller, the one device of QEMU 7.2 with SR-IOV: for PCI it is
 * as good as a NIC, and sriov_numvfs, the links virtfnN and what comes and goes with them are the
 * kernel's own. This driver takes it, and gives
 *   labpfN   to the physical function: "ip link set labpf0 vf 3 ..." sets what "ip -d link show"
 *            then shows, and rtnetlink tells;
 *   labvfN   to each virtual function;
 *   labrepN  for each of the first of them, as an interface of the physical function with the
 *            phys_port_name pf0vfN: its representor.
 * All are up as soon as they are set up, and lead nowhere.
 *
 * Parameters, which count from the next sriov_numvfs on:
 *   representors   how many virtual functions have one (0)
 *   reticent       the driver does not know spoof check and trust, as some do not
 *
 * Locking: the kernel calls what sets and gets settings under RTNL, and sriov_configure under the
 * device's lock. Settings are made anew only while there is no virtual function to ask about.
 */

#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pci.h>

#define LABVF_MAX 128

static unsigned int representors;
module_param(representors, uint, 0644);
static bool reticent;
module_param(reticent, bool, 0644);

struct labvf_settings {
	u8 mac[ETH_ALEN];
	u16 vlan;
	u8 priority;
	bool spoof_check;
	bool trust;
	int link;
	int min_rate;
	int max_rate;
};

/* Of any interface; those of the physical function have all of it. */
struct labvf {
	struct net_device *netdev;
	unsigned int number; /* of the function that a representor stands for */
	struct net_device *standing[LABVF_MAX];
	struct labvf_settings functions[LABVF_MAX];
};

/* -- An interface that leads nowhere -------------------------------------------------------- */

static int labvf_open(struct net_device *netdev)
{
	netif_carrier_on(netdev);
	netif_start_queue(netdev);
	return 0;
}

static int labvf_stop(struct net_device *netdev)
{
	netif_stop_queue(netdev);
	netif_carrier_off(netdev);
	return 0;
}

static netdev_tx_t labvf_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static int labvf_port_name(struct net_device *netdev, char *name, size_t size)
{
	struct labvf *lab = netdev_priv(netdev);

	return snprintf(name, size, "pf0vf%u", lab->number) >= (int)size ? -EINVAL : 0;
}

/* -- What virtual functions may ------------------------------------------------------------- */

static struct labvf_settings *labvf_of(struct net_device *netdev, int number)
{
	struct labvf *lab = netdev_priv(netdev);
	int count = pci_num_vf(to_pci_dev(netdev->dev.parent));

	return number >= 0 && number < count ? &lab->functions[number] : NULL;
}

static int labvf_get(struct net_device *netdev, int number, struct ifla_vf_info *info)
{
	const struct labvf_settings *function = labvf_of(netdev, number);

	if (!function)
		return -EINVAL;
	info->vf = number;
	memcpy(info->mac, function->mac, ETH_ALEN);
	info->vlan = function->vlan;
	info->qos = function->priority;
	info->linkstate = function->link;
	info->min_tx_rate = function->min_rate;
	info->max_tx_rate = function->max_rate;
	if (reticent)
		return 0;
	info->spoofchk = function->spoof_check;
	info->trusted = function->trust;
	return 0;
}

static int labvf_set_mac(struct net_device *netdev, int number, u8 *mac)
{
	struct labvf_settings *function = labvf_of(netdev, number);

	if (!function)
		return -EINVAL;
	ether_addr_copy(function->mac, mac);
	return 0;
}

static int labvf_set_vlan(struct net_device *netdev, int number, u16 vlan, u8 priority,
			  __be16 protocol)
{
	struct labvf_settings *function = labvf_of(netdev, number);

	if (!function)
		return -EINVAL;
	function->vlan = vlan;
	function->priority = priority;
	return 0;
}

static int labvf_set_rate(struct net_device *netdev, int number, int min_rate, int max_rate)
{
	struct labvf_settings *function = labvf_of(netdev, number);

	if (!function)
		return -EINVAL;
	function->min_rate = min_rate;
	function->max_rate = max_rate;
	return 0;
}

static int labvf_set_spoof_check(struct net_device *netdev, int number, bool on)
{
	struct labvf_settings *function = labvf_of(netdev, number);

	if (!function)
		return -EINVAL;
	function->spoof_check = on;
	return 0;
}

static int labvf_set_trust(struct net_device *netdev, int number, bool on)
{
	struct labvf_settings *function = labvf_of(netdev, number);

	if (!function)
		return -EINVAL;
	function->trust = on;
	return 0;
}

static int labvf_set_link(struct net_device *netdev, int number, int link)
{
	struct labvf_settings *function = labvf_of(netdev, number);

	if (!function)
		return -EINVAL;
	function->link = link;
	return 0;
}

static const struct net_device_ops labvf_physical_ops = {
	.ndo_open = labvf_open,
	.ndo_stop = labvf_stop,
	.ndo_start_xmit = labvf_xmit,
	.ndo_get_vf_config = labvf_get,
	.ndo_set_vf_mac = labvf_set_mac,
	.ndo_set_vf_vlan = labvf_set_vlan,
	.ndo_set_vf_rate = labvf_set_rate,
	.ndo_set_vf_spoofchk = labvf_set_spoof_check,
	.ndo_set_vf_trust = labvf_set_trust,
	.ndo_set_vf_link_state = labvf_set_link,
};

static const struct net_device_ops labvf_virtual_ops = {
	.ndo_open = labvf_open,
	.ndo_stop = labvf_stop,
	.ndo_start_xmit = labvf_xmit,
};

static const struct net_device_ops labvf_representor_ops = {
	.ndo_open = labvf_open,
	.ndo_stop = labvf_stop,
	.ndo_start_xmit = labvf_xmit,
	.ndo_get_phys_port_name = labvf_port_name,
};

/* -- Interfaces come and go ----------------------------------------------------------------- */

static struct net_device *labvf_add(struct pci_dev *pdev, const char *name, unsigned int number,
				    const struct net_device_ops *ops)
{
	struct net_device *netdev =
		alloc_netdev(sizeof(struct labvf), name, NET_NAME_ENUM, ether_setup);
	struct labvf *lab;
	int ret;

	if (!netdev)
		return ERR_PTR(-ENOMEM);
	lab = netdev_priv(netdev);
	lab->netdev = netdev;
	lab->number = number;
	netdev->netdev_ops = ops;
	eth_hw_addr_random(netdev);
	SET_NETDEV_DEV(netdev, &pdev->dev);
	ret = register_netdev(netdev);
	if (!ret)
		return netdev;
	free_netdev(netdev);
	return ERR_PTR(ret);
}

static void labvf_remove_netdev(struct net_device *netdev)
{
	unregister_netdev(netdev);
	free_netdev(netdev);
}

static void labvf_remove_functions(struct pci_dev *pdev, struct labvf *lab)
{
	unsigned int i;

	for (i = 0; i < LABVF_MAX; i++) {
		if (lab->standing[i])
			labvf_remove_netdev(lab->standing[i]);
		lab->standing[i] = NULL;
	}
	pci_disable_sriov(pdev);
	memset(lab->functions, 0, sizeof(lab->functions));
}

static int labvf_configure(struct pci_dev *pdev, int count)
{
	struct labvf *lab = netdev_priv(pci_get_drvdata(pdev));
	int i, ret = 0;

	if (count > LABVF_MAX)
		return -EINVAL;
	labvf_remove_functions(pdev, lab);
	if (count > 0)
		ret = pci_enable_sriov(pdev, count);
	for (i = 0; !ret && i < count && i < (int)representors; i++) {
		struct net_device *netdev = labvf_add(pdev, "labrep%d", i, &labvf_representor_ops);

		if (IS_ERR(netdev))
			ret = PTR_ERR(netdev);
		else
			lab->standing[i] = netdev;
	}
	if (!ret)
		return count;
	labvf_remove_functions(pdev, lab);
	return ret;
}

static int labvf_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct net_device *netdev = pdev->is_virtfn
					    ? labvf_add(pdev, "labvf%d", 0, &labvf_virtual_ops)
					    : labvf_add(pdev, "labpf%d", 0, &labvf_physical_ops);

	if (IS_ERR(netdev))
		return PTR_ERR(netdev);
	pci_set_drvdata(pdev, netdev);
	return 0;
}

static void labvf_remove(struct pci_dev *pdev)
{
	struct net_device *netdev = pci_get_drvdata(pdev);

	if (!pdev->is_virtfn)
		labvf_remove_functions(pdev, netdev_priv(netdev));
	labvf_remove_netdev(netdev);
}

static const struct pci_device_id labvf_ids[] = {{PCI_DEVICE(PCI_VENDOR_ID_REDHAT,
							     0x0010)}, /* QEMU's NVMe controller */
						 {}};

static struct pci_driver labvf_driver = {
	.name = "labvf",
	.id_table = labvf_ids,
	.probe = labvf_probe,
	.remove = labvf_remove,
	.sriov_configure = labvf_configure,
};
module_pci_driver(labvf_driver);

MODULE_DESCRIPTION("Network interfaces of a NIC with virtual functions, for tests");
MODULE_LICENSE("Dual BSD/GPL");
