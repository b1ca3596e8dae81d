/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Message ids: kinds of journal entries, for `journalctl MESSAGE_ID=...` and for the explanations
 * in systemd/rdma-node-agent.catalog. Made by `systemd-id128 new`, never changed, never used again.
 */
#pragma once

#define RNA_MESSAGE_PORT_DOWN "ad6b867ff87648f0a83eec1eb267678b"
#define RNA_MESSAGE_PORT_UP   "7a65d50798f4488a80aa6c23292438dc"
