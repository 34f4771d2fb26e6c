import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { EventActivities } from '#activities/events/event-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import { listenerHeldSignal, probeListenerSignal, type ProbeListenerInput } from './probe-listener.contract.ts';

const probeNow = defineSignal(probeListenerSignal);
const listenerHeld = defineSignal(listenerHeldSignal);

/** Pauses between probes, in milliseconds: the first, doubled each time, and the longest. */
const firstPauseMs = 2_000;
const maxPauseMs = 60_000;

/** Probes after which a run continues as new, so that its history stays short. */
const probesPerRun = 500;

/**
 * The one workflow of a listener that is held because it fails on everything, for example after a bad release. Its events wait, and no
 * other workflow is started for them. It ends when the listener has handled one of them, and the others were given back to the relay.
 */
export async function probeListener(input: ProbeListenerInput): Promise<{ readonly givenBack: number }> {
  const options = activityOptions(input.queue);
  // They fail only while the database or Temporal is unreachable. Giving up would leave the events waiting.
  const { probeListener: probe, giveBackHeld } = proxyActivities<EventActivities>({
    ...options,
    retry: { maximumInterval: options.retry.maximumInterval },
  });
  const { listener } = input;
  let { probes = 0 } = input;
  let givenBack = 0;
  let isAsked = false;
  let isHeldAgain = false;
  setHandler(probeNow, () => {
    isAsked = true;
  });
  setHandler(listenerHeld, () => {
    isHeldAgain = true;
  });
  for (let round = 0; round < probesPerRun && !workflowInfo().continueAsNewSuggested; round++) {
    await condition(() => isAsked, Math.min(firstPauseMs * 2 ** Math.min(probes, 10), maxPauseMs));
    isAsked = false;
    // The probe sees what was said until now.
    isHeldAgain = false;
    const { isWorking, error, heldSince } = await probe({ listener });
    if (!isWorking) {
      probes++;
      setCurrentDetails(
        `**The listener \`${listener}\` fails on everything** since ${heldSince ?? 'a while'} (${error ?? 'no error is known'}); ${probes} probes. ` +
          `Its events wait, and are delivered when a probe succeeds. Send the signal \`${probeListenerSignal}\` to probe at once.`,
      );
      continue;
    }
    setCurrentDetails('');
    probes = 0;
    let isComplete = false;
    while (!isComplete && !workflowInfo().continueAsNewSuggested) {
      const count = await giveBackHeld({ listener });
      givenBack += count;
      isComplete = count === 0;
    }
    // A run that holds it again leaves the probing to this run as long as it is not closed.
    if (isComplete && !isHeldAgain) return { givenBack };
  }
  return continueAsNew<typeof probeListener>({ ...input, probes: isAsked ? 0 : probes });
}
