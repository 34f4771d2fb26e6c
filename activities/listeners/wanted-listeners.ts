import type { Config } from '#config/objects/root.ts';
import { chatTarget } from '../clients/chat/chat-target.ts';
import type { Listener } from './listener.ts';

/** The listeners that are given events with these settings. */
export function wantedListeners(listeners: readonly Listener[], config: Config): readonly Listener[] {
  const settings = {
    hasChat: chatTarget(config, {}) !== undefined,
    hasBilling: config.subscription.enabled,
    hasWorkflows: config.workflows.enabled,
  };
  return listeners.filter(({ isWanted }) => isWanted?.(settings) ?? true);
}

/**
 * Whether a listener is given events of a topic, with the settings at that moment.
 * @param isOnDemand of listeners that are given some events only (`Listener.onDemand`), or of the others
 */
export function topicsWithListeners(
  listeners: readonly Listener[],
  settings: () => Config,
  isOnDemand: boolean,
): (topic: string) => boolean {
  let config: Config | undefined;
  let topics = new Set<string>();
  return (topic) => {
    if (config !== settings()) {
      config = settings();
      const wanted = wantedListeners(listeners, config).filter(({ onDemand = false }) => onDemand === isOnDemand);
      topics = new Set(wanted.flatMap((listener) => listener.topics));
    }
    return topics.has(topic);
  };
}
