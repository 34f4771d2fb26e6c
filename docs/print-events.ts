import { registry } from '#entities/index.ts';
import { subscriptions } from '#workflows/events/subscriptions.ts';

/** Topics that handlers announce themselves, beside those derived from the entities. */
const announced: Readonly<Record<string, string>> = {
  'email_verification.requested': 'Somebody asked for a confirmation mail; `round` tells which.',
  'user.confirmed': 'A person confirmed their address.',
  'user.registration_repeated': 'Somebody tried to sign up with an address that has an account.',
};

/** The reference page of all events: who records them, who listens. */
export function printEvents(): string {
  const derived = registry.modules.flatMap((module) =>
    module.events.map(
      (verb) => [`${module.topic}.${verb}`, `A ${module.typeName} was ${verb}; \`changed\` names the fields.`] as const,
    ),
  );
  const rows = [...derived, ...Object.entries(announced)]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([topic, meaning]) => `| \`${topic}\` | ${meaning} | ${listenersOf(topic)} |`);
  return [
    '# Events',
    '',
    'Recorded in the transaction of the change and delivered after its commit. An event nobody listens to starts nothing.',
    'Printed by `npm run derive`.',
    '',
    '| Topic | When | Listeners |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function listenersOf(topic: string): string {
  const names = Object.entries(subscriptions).filter(([, topics]) => (topics as readonly string[]).includes(topic));
  return names.map(([name]) => `\`${name}\``).join(', ') || 'none';
}
