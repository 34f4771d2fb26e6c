import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { actions } from '#api/actions/kit/found-actions.ts';
import { deriveSchema } from '#api/graphql/derived/derive-schema.ts';
import { productSchema } from '#api/graphql/graphql-schema.ts';
import type { Route } from '#api/http/route.ts';
import { recordRoutes } from '#api/rest/records/record-routes.ts';
import { routesOf } from '#api/rest/routes.ts';
import { registry } from '#entities/index.ts';
import { repositoryFiles } from '../kit/repository-files.ts';

const root = join(import.meta.dirname, '..', '..');
const sources = new Map(
  repositoryFiles()
    .filter((file) => file.startsWith('api/') && file.endsWith('.ts'))
    .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
);

type Caller = 'action' | 'route' | 'field';

function callerOf(file: string): Caller | undefined {
  if (file.startsWith('api/graphql/fields/')) return 'field';
  if (file.startsWith('api/actions/') && !file.startsWith('api/actions/kit/')) return 'action';
  // What is derived for all kinds or all actions.
  return file.startsWith('api/rest/') && !file.startsWith('api/rest/records/') ? 'route' : undefined;
}

const importPattern = /^import (?!type\b)\{([^}]*)\} from '(\.[^']*\/(?:people|webhooks|credentials)\/[\w-]+\.ts)';$/gm;

/** Functions that several of actions, routes and fields import, with those that do. @param from their text by path */
function sharedOperations(from: ReadonlyMap<string, string>): Map<string, Set<Caller>> {
  const callers = new Map<string, Set<Caller>>();
  for (const [file, text] of from) {
    const caller = callerOf(file);
    if (!caller) continue;
    for (const [, names = '', path = ''] of text.matchAll(importPattern)) {
      if (path.startsWith('./')) continue;
      const imported = names.split(',').map((name) => name.trim().replace(/ as .*/, ''));
      for (const name of imported.filter((one) => /^[a-z]/.test(one) && !one.startsWith('type ')))
        callers.set(name, new Set([...(callers.get(name) ?? []), caller]));
    }
  }
  return new Map([...callers].filter(([, by]) => by.size > 1));
}

/** Steps of operations that are unlike each other. */
const steps: readonly string[] = [
  'foundOrganization',
  'renewVerification',
  'requireOrganizationProof',
  'signedInPerson',
  'verifiedDomains',
];

/** What the interfaces do apart, with the reason. */
const apart: Readonly<Record<string, string>> = {
  consoleUrlOf: 'a part of the inbox',
  notificationInbox: 'reads exactly what the request selects, with its counts, in one statement',
};

function twins(from: ReadonlyMap<string, string>): string[] {
  return [...sharedOperations(from).keys()].filter((name) => !steps.includes(name) && !(name in apart)).toSorted();
}

test('an operation of both interfaces is an action', () => {
  expect(twins(sources)).toEqual([]);
  expect([...steps, ...Object.keys(apart)].filter((name) => !sharedOperations(sources).has(name))).toEqual([]);
});

test('a twin is found, as a field or as a route', () => {
  const text = "import { openInvite } from '../../people/open-invite.ts';";
  for (const file of ['api/graphql/fields/look-at-invite.ts', 'api/rest/organizations/look-at-invite.ts'])
    expect(twins(new Map([...sources, [file, text]]))).toEqual(['openInvite']);
});

test('no name stands for two operations', () => {
  const names = actions.map(({ definition }) => definition.name);
  expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
  const inherited = new Set(fieldsOf(deriveSchema(registry, [])));
  expect(names.filter((name) => inherited.has(name))).toEqual([]);
  const operations = routesOf(registry).map(({ operationId }) => operationId);
  expect(operations.filter((name, index) => operations.indexOf(name) < index)).toEqual([]);
});

test('mutations are derived from kinds and actions; queries by hand have no twin in REST', () => {
  const inherited = new Set([
    ...fieldsOf(deriveSchema(registry, [])),
    ...actions.map(({ definition }) => definition.name),
  ]);
  expect(fieldsOf(productSchema()).filter((name) => !inherited.has(name))).toEqual([
    'self',
    'explainAccess',
    'notificationInbox',
  ]);
});

/** Routes by hand that change something for people who are signed in, by the reason why they are no actions. */
const protocols: Readonly<Record<string, readonly string[]>> = {
  'they concern the account or the session of one person, with credentials that may not stand in operations of GraphQL':
    [
      'DELETE /v1/account',
      'DELETE /v1/account/identities/:id',
      'POST /v1/2fa/confirm',
      'POST /v1/2fa/disable',
      'POST /v1/2fa/recovery-codes',
      'POST /v1/2fa/setup',
      'POST /v1/2fa/step-up',
      'POST /v1/account/deactivate',
      'POST /v1/account/email',
      'POST /v1/account/email-suppressions/:id/release',
      'POST /v1/account/identities',
      'POST /v1/change-password',
      'POST /v1/delegation/end',
      'POST /v1/delegations/:id/end',
      'POST /v1/impersonation',
      'POST /v1/registration/options',
      'POST /v1/registration/verification',
      'POST /v1/switch',
      'PUT /v1/account/default-organization',
    ],
  'they ask for rights, which each operation of GraphQL checks itself': [
    'POST /v1/account/access',
    'POST /v1/account/roles',
    'POST /v1/account/roles/organization',
  ],
  'they take bytes': [
    'DELETE /v1/uploads/:id',
    'PATCH /v1/uploads/:id',
    'POST /v1/uploads',
    'POST /v1/uploads/:id/complete',
    'POST /v1/uploads/direct',
    'POST /v1/uploads/resumable',
  ],
  'their credential is the token of a link': ['POST /v1/invite/accept', 'POST /v1/webhook-portal/links'],
  'they ask the provider or name servers, outside of a transaction': [
    'POST /v1/sso/domains/verify',
    'POST /v1/sso/enforcement',
    'POST /v1/sso/test',
    'PUT /v1/sso/provider',
  ],
  'they are for operators of the installation': [
    'POST /v1/operations/lifecycle/:id/postpone',
    'POST /v1/operations/lifecycle/:id/spare',
    'POST /v1/operations/repairs',
    'POST /v1/operations/repairs/:id/stop',
    'POST /v1/operations/removals/:id/undo',
    'POST /v1/operations/work/:id/retry',
    'POST /v1/operations/work/:id/stop',
  ],
};

test('routes that change something for signed-in people are actions, or say why they are none', () => {
  const derived = new Set([
    ...recordRoutes(registry, {}).map(nameOf),
    ...actions.map(({ definition: { method = 'POST', url } }) => `${method} ${url}`),
  ]);
  const byHand = routesOf(registry).filter(({ method, access }) => method !== 'GET' && access === 'required');
  expect(
    byHand
      .map(nameOf)
      .filter((name) => !derived.has(name))
      .toSorted(),
  ).toEqual(Object.values(protocols).flat().toSorted());
});

function nameOf({ method, url }: Pick<Route, 'method' | 'url'>): string {
  return `${method} ${url}`;
}

function fieldsOf(schema: ReturnType<typeof productSchema>): string[] {
  return [schema.getQueryType(), schema.getMutationType()].flatMap((type) => Object.keys(type?.getFields() ?? {}));
}
