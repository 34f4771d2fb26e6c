import { describe, expect, test } from 'vitest';
import { priceIn, trialLookupKeys, type Catalogue } from '#entities/billing/catalogue/catalogue.ts';
import { liveCatalogue } from '#entities/billing/catalogue/live.ts';
import { sandboxCatalogue } from '#entities/billing/catalogue/sandbox.ts';
import {
  entitlementsOf,
  newTrial,
  type EntitlementFacts,
  type SubscriptionFacts,
} from '#entities/billing/entitlements.ts';
import { productModules, type Entitlement } from '#entities/kit/model/product-modules.ts';
import { Random } from '../kit/random.ts';

const now = new Date('2026-03-01T00:00:00Z');
const later = new Date('2026-04-01T00:00:00Z');
const latest = new Date('2026-05-01T00:00:00Z');
const before = new Date('2026-02-01T00:00:00Z');

const subscription = (changes: Partial<SubscriptionFacts> = {}): SubscriptionFacts => ({
  id: 'sub_1',
  status: 'active',
  items: [{ priceId: 'price_1', lookupKey: 'compliance_month', quantity: 1 }],
  trialEndsAt: null,
  cancelsAt: null,
  nextPaymentAttempt: null,
  isTrialOfServer: false,
  ...changes,
});

const item = (lookupKey: string | null, quantity = 1) => ({ priceId: `price_${lookupKey}`, lookupKey, quantity });

const given = (facts: Partial<EntitlementFacts>, catalogue: Catalogue = liveCatalogue) =>
  entitlementsOf({ subscriptions: [], trialEndsAt: null, grants: [], now, ...facts }, catalogue);

/** As texts: `<module> <source>` and the end. */
const shown = (modules: readonly Entitlement[]) =>
  modules.map(({ module, source, endsAt }) => [module, source, endsAt?.toISOString().slice(0, 10)].join(' ').trim());

describe('a subscription', () => {
  test.each([
    ['trialing', null, true],
    ['active', null, true],
    ['past_due', later, true],
    ['past_due', null, false],
    ['incomplete', null, false],
    ['incomplete_expired', null, false],
    ['canceled', later, false],
    ['unpaid', later, false],
    ['paused', null, false],
    ['status_of_next_year', later, false],
  ])(
    'with the status %s and the next attempt to be paid at %s entitles: %s',
    (status, nextPaymentAttempt, entitles) => {
      const { modules, isLapsed } = given({ subscriptions: [subscription({ status, nextPaymentAttempt })] });
      expect({ has: modules.length > 0, isLapsed }).toEqual({ has: entitles, isLapsed: !entitles });
    },
  );

  test.each([
    ['is paid', {}, ['compliance subscription']],
    ['was cancelled', { cancelsAt: later }, ['compliance subscription 2026-04-01']],
    ['is on trial', { status: 'trialing', trialEndsAt: later }, ['compliance trial 2026-04-01']],
    [
      'is on trial and was cancelled',
      { status: 'trialing', trialEndsAt: latest, cancelsAt: later },
      ['compliance trial 2026-04-01'],
    ],
    [
      'has two prices of one module',
      { items: [item('compliance_month'), item('compliance_year')] },
      ['compliance subscription'],
    ],
    [
      'has an add-on',
      { items: [item('compliance_year'), item('domain_scanning_month')] },
      ['compliance subscription', 'domain_scanning subscription'],
    ],
    ['has what opens no module', { items: [item('base_month'), item('extra_evidence_storage_month', 3)] }, []],
    [
      'has a free price beside another',
      { items: [item('registry_month'), item('compliance_month')] },
      ['compliance subscription', 'registry subscription'],
    ],
  ] satisfies [string, Partial<SubscriptionFacts>, string[]][])('that %s', (_what, changes, expected) => {
    const { modules, isLapsed, problems } = given({ subscriptions: [subscription(changes)] });
    expect(shown(modules)).toEqual(expected);
    expect({ isLapsed, problems }).toEqual({ isLapsed: false, problems: [] });
  });

  test.each([
    ['nothing', []],
    ['a quantity of 0', [item('compliance_month', 0)]],
    ['free prices only', [item('base_month'), item('registry_month')]],
    ['a foreign price', [item('no_such_price')]],
    ['a free price beside a foreign one', [item('base_month'), item('no_such_price')]],
  ])('with %s gives nothing, and prevents no lapse', (_what, items) => {
    const { modules, isLapsed } = given({ subscriptions: [subscription({ items })] });
    expect({ modules, isLapsed }).toEqual({ modules: [], isLapsed: true });
  });

  test.each([['no_such_price'], ['sandbox_compliance_month'], [null]])(
    'with the foreign lookup key %s gives nothing, and is reported',
    (lookupKey) => {
      const { modules, problems } = given({ subscriptions: [subscription({ items: [item(lookupKey)] })] });
      expect(modules).toEqual([]);
      expect(problems).toEqual([
        expect.stringContaining(`(lookup key ${lookupKey ?? 'missing'}) of the subscription sub_1`),
      ]);
    },
  );

  test('with a new status is reported', () => {
    const { problems } = given({ subscriptions: [subscription({ status: 'thawing' })] });
    expect(problems).toEqual(['The status "thawing" of the subscription sub_1 is not known, and gives no module.']);
  });
});

describe('several subscriptions', () => {
  const second = subscription({ id: 'sub_2', items: [item('trust_center_year')], cancelsAt: later });

  test('give their modules together, and are reported', () => {
    const { modules, problems } = given({ subscriptions: [second, subscription()] });
    expect(shown(modules)).toEqual(['compliance subscription', 'trust_center subscription 2026-04-01']);
    expect(problems).toEqual(['Several subscriptions apply, and their modules add up: sub_1, sub_2.']);
  });

  test('of which one has ended are one', () => {
    const { modules, problems } = given({ subscriptions: [subscription({ status: 'canceled' }), second] });
    expect(shown(modules)).toEqual(['trust_center subscription 2026-04-01']);
    expect(problems).toEqual([]);
  });

  test.each([
    ['one that continues', null, 'compliance subscription'],
    ['the later one', latest, 'compliance subscription 2026-05-01'],
  ])('with the same module give it as long as %s', (_what, cancelsAt, expected) => {
    const subscriptions = [subscription({ cancelsAt: later }), subscription({ id: 'sub_2', cancelsAt })];
    for (const order of [subscriptions, subscriptions.toReversed()])
      expect(shown(given({ subscriptions: order }).modules)).toEqual([expected]);
  });
});

describe('the trial of the server', () => {
  const trial = ['compliance trial 2026-04-01', 'registry trial 2026-04-01', 'trust_center trial 2026-04-01'];

  test('gives the modules of a trial until it ends', () => {
    expect(given({ trialEndsAt: later })).toMatchObject({ isLapsed: false, problems: [] });
    expect(shown(given({ trialEndsAt: later }).modules)).toEqual(trial);
    for (const trialEndsAt of [now, before])
      expect(given({ trialEndsAt })).toMatchObject({ isLapsed: true, modules: [] });
  });

  test.each([
    ['runs', { status: 'trialing', trialEndsAt: latest }, ['compliance trial 2026-05-01']],
    ['was cancelled', { status: 'canceled' }, []],
  ])('is that of the provider as soon as it has one, which %s', (_what, changes, expected) => {
    const subscriptions = [subscription({ isTrialOfServer: true, ...changes })];
    expect(shown(given({ trialEndsAt: later, subscriptions }).modules)).toEqual(expected);
  });

  test('continues beside a subscription that was ordered meanwhile', () => {
    const { modules } = given({ trialEndsAt: later, subscriptions: [subscription()] });
    expect(shown(modules)).toEqual(['compliance subscription', ...trial]);
  });

  test('of a new organization lasts 30 days', () => {
    const { endsAt, modules } = newTrial(liveCatalogue, now);
    expect(endsAt.toISOString()).toBe('2026-03-31T00:00:00.000Z');
    expect(modules.every((one) => one.source === 'trial' && one.endsAt === endsAt)).toBe(true);
  });
});

describe('a grant', () => {
  test('stands beside a subscription of the same module, and outlasts it', () => {
    const grants = [{ module: 'compliance', endsAt: null }] as const;
    expect(shown(given({ grants, subscriptions: [subscription()] }).modules)).toEqual([
      'compliance granted',
      'compliance subscription',
    ]);
    const ended = given({ grants, subscriptions: [subscription({ status: 'canceled' })] });
    expect(shown(ended.modules)).toEqual(['compliance granted']);
    expect(ended.isLapsed).toBe(false);
  });

  test('ends at its time', () => {
    const until = (endsAt: Date) => given({ grants: [{ module: 'registry', endsAt }] });
    expect(shown(until(later).modules)).toEqual(['registry granted 2026-04-01']);
    expect(until(now)).toEqual({ modules: [], isLapsed: true, problems: [] });
  });
});

test('the base belongs to every organization, and alone does not keep it from lapsing', () => {
  const catalogue = liveCatalogue.map((entry) => ({ ...entry, isBase: entry.module === 'registry' }));
  expect(given({}, catalogue)).toEqual({
    modules: [{ module: 'registry', source: 'base', endsAt: null }],
    isLapsed: true,
    problems: [],
  });
});

test('entitlements do not depend on the order of subscriptions, items and grants', () => {
  const random = new Random(37);
  const keys = [...liveCatalogue.flatMap(({ prices }) => prices.map(({ lookupKey }) => lookupKey)), 'foreign', null];
  for (let round = 0; round < 200; round++) {
    const subscriptions = Array.from({ length: 4 }, (_none, index) =>
      subscription({
        id: `sub_${index}`,
        status: random.pick(['active', 'trialing', 'past_due', 'canceled', 'new_status']),
        items: Array.from({ length: 3 }, () => item(random.pick(keys), random.pick([0, 1, 2]))),
        cancelsAt: random.pick([null, later, latest]),
        nextPaymentAttempt: random.pick([null, later]),
      }),
    );
    const grants = productModules.slice(0, 3).map((module) => ({ module, endsAt: random.pick([null, before, later]) }));
    const facts = { subscriptions, grants, trialEndsAt: random.pick([null, later]) };
    const shuffled = {
      ...facts,
      subscriptions: random.shuffled(subscriptions).map((one) => ({ ...one, items: random.shuffled(one.items) })),
      grants: random.shuffled(grants),
    };
    const entitlements = given(facts);
    expect(given(shuffled)).toEqual(entitlements);
    const keysOf = entitlements.modules.map(({ module, source }) => `${module} ${source}`);
    expect(new Set(keysOf).size).toBe(keysOf.length);
  }
});

describe('the catalogues', () => {
  const both = [...liveCatalogue, ...sandboxCatalogue];

  test('name each price once', () => {
    const keys = both.flatMap(({ prices }) => prices.map(({ lookupKey }) => lookupKey));
    expect(new Set(keys).size).toBe(keys.length);
    expect(priceIn(liveCatalogue, 'compliance_year')?.price).toMatchObject({ interval: 'year', unitAmount: 500_000 });
    expect(priceIn(liveCatalogue, 'sandbox_compliance_year')).toBeUndefined();
  });

  test.each([
    ['live', liveCatalogue],
    ['sandbox', sandboxCatalogue],
  ])('%s: every product module can be ordered, and a trial has a price for each of its parts', (_name, catalogue) => {
    expect(catalogue.flatMap(({ module }) => module ?? []).toSorted()).toEqual(productModules);
    expect(trialLookupKeys(catalogue).map((key) => priceIn(catalogue, key)?.entry.name)).toEqual(
      catalogue.filter(({ isInTrial }) => isInTrial).map(({ name }) => name),
    );
  });
});
