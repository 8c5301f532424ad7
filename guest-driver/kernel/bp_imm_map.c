// SPDX-License-Identifier: GPL-2.0
/*
 * What a process maps of its context: the page of registers and the doorbell page. A page is put in by the fault
 * handler, so that it can be taken away: when the context ends, a private page of plain memory takes its place, whose
 * state says BP_IMM_CONTEXT_DEAD. The process sees an error instead of getting a signal.
 */

#include <linux/io.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/version.h>

#include "bp_imm.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static void vm_flags_mod(struct vm_area_struct *vma, unsigned long set, unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

bool bp_imm_write_combining = true;
module_param_named(write_combining, bp_imm_write_combining, bool, 0444);
MODULE_PARM_DESC(write_combining, "map context pages write-combining (default), else uncached");

/* The page that stands in for page @which of a context that has ended. */
static struct page *bp_imm_dead_page(struct bp_imm_client *client, unsigned long which)
{
	struct bp_imm_context *registers;
	struct page *page = READ_ONCE(client->dead_pages[which]);

	if (page)
		return page;
	page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!page)
		return NULL;
	if (which == BP_IMM_MAP_CONTEXT) {
		registers = page_address(page);
		registers->state = cpu_to_le32(BP_IMM_CONTEXT_DEAD);
		registers->generation = cpu_to_le32(client->generation);
		registers->context = cpu_to_le32(client->id);
		registers->node = cpu_to_le32(client->device->node_id);
	}
	/* Two threads may fault at once; the page must be complete before the other one maps it. */
	if (cmpxchg(&client->dead_pages[which], NULL, page)) {
		__free_page(page);
		page = client->dead_pages[which];
	}
	return page;
}

static vm_fault_t bp_imm_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct bp_imm_client *client = vma->vm_private_data;
	struct bp_imm_device *device = client->device;
	vm_fault_t result = VM_FAULT_SIGBUS;
	struct page *page;
	phys_addr_t start;

	/* Against bp_imm_client_end(): a page of the device is never mapped after the caller there has zapped. */
	down_read(&device->map_lock);
	if (client->state == BP_IMM_STARTED) {
		start = vmf->pgoff == BP_IMM_MAP_CONTEXT ? device->contexts_start : device->doorbells_start;
		start += (phys_addr_t)client->id * device->context_stride;
		result = vmf_insert_pfn_prot(vma, vmf->address, PHYS_PFN(start), vma->vm_page_prot);
	} else {
		page = bp_imm_dead_page(client, vmf->pgoff);
		if (page)
			result = vmf_insert_pfn_prot(vma, vmf->address, page_to_pfn(page),
						     vm_get_page_prot(vma->vm_flags));
	}
	up_read(&device->map_lock);
	return result;
}

static const struct vm_operations_struct bp_imm_vm_ops = {
	.fault = bp_imm_fault,
};

int bp_imm_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct bp_imm_client *client = file->private_data;

	if (current->mm != client->notifier.mm)
		return -EPERM;
	if (vma->vm_end - vma->vm_start != PAGE_SIZE || vma->vm_pgoff > BP_IMM_MAP_DOORBELL)
		return -EINVAL;
	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC)
		return -EINVAL;
	vm_flags_mod(vma, VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
	/*
	 * Context pages are write-combining: a process fills a slot with full-speed stores, and flushes them with a
	 * store barrier before it stores submit (libbackplane, bp_flush). Doorbells stay strongly ordered.
	 */
	if (vma->vm_pgoff == BP_IMM_MAP_CONTEXT && bp_imm_write_combining)
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	else
		vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	vma->vm_ops = &bp_imm_vm_ops;
	vma->vm_private_data = client;
	return 0;
}
