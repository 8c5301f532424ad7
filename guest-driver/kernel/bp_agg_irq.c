// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts: MSI-X with a vector for events and one for each pair; or one
 * vector, MSI-X or INTx, for everything.
 */

#include <linux/cpumask.h>
#include <linux/interrupt.h>

#include "bp_agg.h"

/**
 * bp_agg_vectors_alloc() - allocate interrupt vectors for all pairs
 * @priv: device; max_pairs is lowered to what the vectors allow
 *
 * Return: 0 or a negative errno.
 */
int bp_agg_vectors_alloc(struct bp_agg *priv)
{
	u32 wanted = min(priv->max_pairs, num_possible_cpus());
	int vectors;

	vectors = pci_alloc_irq_vectors(priv->pdev, 1, 1 + wanted,
					PCI_IRQ_MSIX | PCI_IRQ_INTX);
	if (vectors < 0)
		return vectors;
	priv->msix = priv->pdev->msix_enabled;
	priv->shared_vector = vectors == 1;
	priv->max_pairs = priv->shared_vector ? 1 : vectors - 1;
	return 0;
}

/**
 * bp_agg_event_vector() - vector of events, as the device counts
 * @priv: device
 *
 * Return: the vector, BP_AGG_NO_VECTOR with INTx.
 */
u32 bp_agg_event_vector(struct bp_agg *priv)
{
	return priv->msix ? 0 : BP_AGG_NO_VECTOR;
}

/**
 * bp_agg_pair_vector() - vector of a pair, as the device counts
 * @pair: queue pair
 *
 * Return: the vector, BP_AGG_NO_VECTOR with INTx.
 */
u32 bp_agg_pair_vector(struct bp_agg_pair *pair)
{
	if (!pair->priv->msix)
		return BP_AGG_NO_VECTOR;
	return pair->priv->shared_vector ? 0 : 1 + pair->index;
}

static irqreturn_t bp_agg_pair_interrupt(int irq, void *data)
{
	struct bp_agg_pair *pair = data;

	pair->interrupts++;
	bp_agg_pair_schedule(pair);
	return IRQ_HANDLED;
}

static irqreturn_t bp_agg_event_interrupt(int irq, void *data)
{
	return IRQ_WAKE_THREAD;
}

static irqreturn_t bp_agg_event_thread(int irq, void *data)
{
	struct bp_agg *priv = data;

	bp_agg_write(priv, BP_AGG_REG_EVENT_STATUS,
		     bp_agg_read(priv, BP_AGG_REG_EVENT_STATUS));
	bp_agg_handle_events(priv);
	return IRQ_HANDLED;
}

/* One vector for everything: there is one pair. */
static irqreturn_t bp_agg_shared_interrupt(int irq, void *data)
{
	struct bp_agg *priv = data;
	u32 events = readl(priv->bar + BP_AGG_REG_EVENT_STATUS);

	if (events == ~0U || (!events && !priv->msix))
		return IRQ_NONE;
	if (events) {
		bp_agg_write(priv, BP_AGG_REG_EVENT_STATUS, events);
		/* Not posted: the pin must be down before we return. */
		readl(priv->bar + BP_AGG_REG_EVENT_STATUS);
	}
	if (priv->msix || events & BP_AGG_EVENT_QUEUE)
		bp_agg_pair_interrupt(irq, &priv->pairs[0]);
	return events & ~BP_AGG_EVENT_QUEUE ? IRQ_WAKE_THREAD : IRQ_HANDLED;
}

static irqreturn_t bp_agg_shared_thread(int irq, void *data)
{
	bp_agg_handle_events(data);
	return IRQ_HANDLED;
}

static void bp_agg_pair_irq_free(struct bp_agg_pair *pair)
{
	int irq = pci_irq_vector(pair->priv->pdev, 1 + pair->index);

	irq_set_affinity_and_hint(irq, NULL);
	free_irq(irq, pair);
}

static int bp_agg_pair_irq_request(struct bp_agg_pair *pair)
{
	struct bp_agg *priv = pair->priv;
	int irq = pci_irq_vector(priv->pdev, 1 + pair->index);
	unsigned int cpu;
	int err;

	snprintf(pair->name, sizeof(pair->name), "%s-pair-%u",
		 priv->dev->name, pair->index);
	err = request_irq(irq, bp_agg_pair_interrupt, 0, pair->name, pair);
	if (err)
		return err;

	cpu = cpumask_local_spread(pair->index, dev_to_node(&priv->pdev->dev));
	irq_set_affinity_and_hint(irq, cpumask_of(cpu));
	netif_set_xps_queue(priv->dev, cpumask_of(cpu), pair->index);
	return 0;
}

/**
 * bp_agg_irqs_request() - request the interrupts of the pairs in use
 * @priv: device
 *
 * Return: 0 or a negative errno.
 */
int bp_agg_irqs_request(struct bp_agg *priv)
{
	int irq = pci_irq_vector(priv->pdev, 0);
	u32 i;
	int err;

	snprintf(priv->event_name, sizeof(priv->event_name), "%s-%s",
		 priv->dev->name, priv->shared_vector ? "all" : "events");
	if (priv->shared_vector)
		return request_threaded_irq(irq, bp_agg_shared_interrupt,
					    bp_agg_shared_thread, IRQF_SHARED,
					    priv->event_name, priv);

	err = request_threaded_irq(irq, bp_agg_event_interrupt,
				   bp_agg_event_thread, 0, priv->event_name,
				   priv);
	if (err)
		return err;
	for (i = 0; i < priv->pair_count; i++) {
		err = bp_agg_pair_irq_request(&priv->pairs[i]);
		if (err)
			goto free_irqs;
	}
	return 0;

free_irqs:
	while (i--)
		bp_agg_pair_irq_free(&priv->pairs[i]);
	free_irq(irq, priv);
	return err;
}

/**
 * bp_agg_irqs_free() - free the interrupts of the pairs in use
 * @priv: device
 */
void bp_agg_irqs_free(struct bp_agg *priv)
{
	u32 i;

	if (!priv->shared_vector) {
		for (i = 0; i < priv->pair_count; i++)
			bp_agg_pair_irq_free(&priv->pairs[i]);
	}
	free_irq(pci_irq_vector(priv->pdev, 0), priv);
}
