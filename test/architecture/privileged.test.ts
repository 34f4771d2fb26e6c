import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Where work is done past the rules, and why it may. Whoever adds a line says why the caller's own rights cannot decide.
 * `privileged` acts within a caller's request, `system` as the server itself.
 */
const listed: Readonly<Record<string, readonly string[]>> = {
  // Nobody is signed in yet: a person, an organization and the first membership are made together.
  'api/rest/account/register.ts': [`privileged 'sign-up'`],
  // Whoever holds the mailed token and knows its password is the person, signed in or not; attempts count although they are refused.
  'api/rest/account/verify-email.ts': [`privileged 'confirm address'`, `system 'confirm address'`],
  // The answer is the same whether there is such a person, so it is looked for past the rules.
  'api/rest/account/resend.ts': [`privileged 'resend verification'`],
  // The person is found by their address before anybody is signed in; failures count although the request is refused.
  'api/rest/account/login.ts': [`privileged 'sign-in'`, `system 'sign-in'`],
  // Its founder has no role in it before the first membership is there.
  'api/graphql/fields/create-organization.ts': [`privileged 'create organization'`],
  // Tuples, events and their batches are the machine's and belong to all organizations.
  'relay/tuples/tuple-relay.ts': [`system 'tuple relay'`],
  'relay/outbox/relay.ts': [`system 'relay'`],
  'runtime/verify.ts': [`system 'verify'`],
  // Deliveries belong to all organizations; a listener acts for the server, restricted to the organization of the event.
  'activities/events/listener-transaction.ts': [
    'system `listener ${listener.name}`, organizationId',
    `system 'event delivery'`,
  ],
  // Partitions have no organization.
  'activities/maintenance/maintenance-activities.ts': [`system 'prune records'`],
  // Compares the rows of all organizations with the authorization store.
  'activities/authorization/authorization-activities.ts': [`system 'reconcile authorization'`],
  // Reads what a mail is made of; the transaction is read-only.
  'activities/email/email-activities.ts': [`system 'send e-mail'`],
};

const folders = ['api', 'relay', 'runtime', 'worker', 'activities', 'workflows', 'entities'];

function sources(): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file))
      .filter((file) => !file.startsWith('entities/kit/')),
  );
}

/** Code without comments, and without the lines that import. */
function code(file: string): string {
  return readFileSync(join(root, file), 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
    .replaceAll(/^(?:import|export)\s[^;]*?from '[^']+';$/gm, '');
}

test('every use of work past the rules is listed, with its reason', () => {
  const found = sources().flatMap((file): [string, string[]][] => {
    const calls = [...code(file).matchAll(/\b(privileged|systemCaller)\(((?:`[^`]*`|[^)])*)\)/g)];
    const uses = calls.map(([, name, reason]) => `${name === 'privileged' ? name : 'system'} ${reason}`);
    return uses.length > 0 ? [[file, uses]] : [];
  });
  expect(Object.fromEntries(found)).toEqual(listed);
});

test('there is no other way past the rules', () => {
  const offences = sources().flatMap((file) => {
    const text = code(file);
    // Named without being called, it would go on under another name.
    const hidden = text.match(/\b(?:privileged|systemCaller)\b(?!\()/g) ?? [];
    const made =
      text.match(/\bnew (?:DataClient|UnitOfWork|Transaction)\b|\bTransaction\.begin\b|kind: 'system'/g) ?? [];
    return [...hidden, ...made].map((name) => `${file}: ${name}`);
  });
  expect(offences).toEqual([]);
});

/** Where statements are sent outside entities/kit, and why no unit of work does it. */
const statements: Readonly<Record<string, string>> = {
  'relay/outbox/wake-up.ts': 'NOTIFY and LISTEN belong to no transaction',
};

test('no statement is sent, and no entity manager used, outside entities/kit', () => {
  const ways =
    /\.query\(|\.execute\(|\breadAs\(|\.em\b|\borm\b|\bqueryAlone\b|\bnative(?:Insert|Update|Delete)|\bcreateQueryBuilder|\bupsert/;
  const found = sources().filter((file) => ways.test(code(file)));
  expect(found).toEqual(Object.keys(statements));
});
