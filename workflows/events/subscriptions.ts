/**
 * Who listens to what: listener → topics. Names are part of keys and ids and never change. The listeners themselves are in
 * activities/listeners, one per file; whoever records events only needs to know whether somebody wants them.
 */
export const subscriptions = {
  'mail-verification': ['email_verification.requested'],
  'mail-welcome': ['user.confirmed'],
  'mail-repeated-registration': ['user.registration_repeated'],
  'set-up-organization': ['organization.created'],
} as const satisfies Record<string, readonly string[]>;

export type ListenerName = keyof typeof subscriptions;

const wanted: ReadonlySet<string> = new Set(Object.values(subscriptions).flat());

/** Whether any listener wants events of this topic; others are recorded but start nothing. */
export function hasListener(topic: string): boolean {
  return wanted.has(topic);
}
