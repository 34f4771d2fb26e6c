import { describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { callerOf, roles, type Caller } from '#entities/kit/model/caller.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { scopeRelations } from '#entities/kit/model/policy.ts';
import { productModules } from '#entities/kit/model/product-modules.ts';
import { createRegistry } from '#entities/kit/model/registry.ts';
import { compilePage, compileRecord } from '#entities/kit/read/answer-statements.ts';
import { PlanCache } from '#entities/kit/read/plan-cache.ts';
import type { PageSelection } from '#entities/kit/read/selection.ts';
import { registry as product } from '#entities/index.ts';
import { Random } from '../kit/random.ts';
import { syntheticKinds } from '../kit/records/synthetic-kinds.ts';

const random = new Random(500);

/** 110 kinds, every other one part of a product module. */
const kinds = syntheticKinds(110).map((kind, index): EntityModule => {
  const name = productModules[index % productModules.length];
  return index % 2 === 0 || name === undefined ? kind : { ...kind, productModules: [name] };
});
const registry = createRegistry([
  // The kinds that follow from others are made anew.
  ...product.modules.filter(
    ({ kind, sides }) => sides === undefined && !/(?:Share|File|Proposal)$|^creatorGrant$/.test(kind),
  ),
  ...kinds,
]);
const asked = registry.modules.filter(({ kind }) => kind.startsWith('thing')).slice(0, 30);

/** People and API tokens, no two with the same scopes, product modules and groups. */
const callers = Array.from({ length: 500 }, (_none, index): Caller => {
  const relations = registry.modules
    .filter(() => random.chance(0.3))
    .flatMap(({ kind }) => scopeRelations({ kind, operation: 'view' }).slice(0, 1));
  return callerOf({
    kind: index % 2 === 0 ? 'api_token' : 'user',
    subjectId: newId(),
    organizationId: newId(),
    role: index % 2 === 0 ? null : (roles[index % roles.length] ?? null),
    groupIds: index % 3 === 0 ? [] : [newId(), newId()],
    relations,
    productModules: productModules.filter(() => random.chance(0.5)),
  });
});

function pageOf(module: EntityModule, as = 'id'): PageSelection {
  return {
    module,
    filter: { is: 'field', field: 'status', comparison: { eq: 'open' } },
    orderBy: [{ field: 'priority', direction: 'desc' }],
    size: 50,
    from: 'first',
    parts: [{ is: 'records', as: 'data', record: { module, parts: [{ is: 'value', as, field: 'id' }] } }],
  };
}

/** Undefined when the organization does not have the product module of the kind. */
function statements(module: EntityModule, caller: Caller, plans: PlanCache) {
  try {
    return [
      compilePage(pageOf(module), caller, plans),
      compileRecord({ module, parts: [{ is: 'value', as: 'id', field: 'id' }] }, module.kind, caller, plans),
    ];
  } catch (error) {
    expect(error).toMatchObject({ code: 'module_not_enabled' });
    return undefined;
  }
}

describe('the plan cache', () => {
  test('compiles a query once for all of 500 callers who decide it alike', () => {
    const plans = new PlanCache(registry);
    let executed = 0;
    for (const caller of callers)
      for (const module of asked) executed += statements(module, caller, plans)?.length ?? 0;
    expect(executed).toBeGreaterThan(10_000);
    // By kind of caller, role, groups and the decision on each rule, however scopes and product modules are combined.
    expect(plans.compilations / (asked.length * 2)).toBeLessThan(20);
    const compilations = plans.compilations;
    for (const caller of callers) for (const module of asked) statements(module, caller, plans);
    expect(plans.compilations).toBe(compilations);
  });

  test('gives every caller the statement that would be compiled for that caller alone', () => {
    const plans = new PlanCache(registry);
    for (let index = 0; index < 500; index++) {
      const [caller, module] = [random.pick(callers), random.pick(asked)];
      expect(statements(module, caller, plans)).toEqual(statements(module, caller, new PlanCache(registry)));
    }
  });

  test('asks each question about the caller once per statement', () => {
    const plans = new PlanCache(product);
    const caller = { ...random.pick(callers), kind: 'user', role: 'member', groupIds: [newId()] } as const;
    compilePage(pageOf(product.byKind('task')), caller, plans);
    expect(plans.contents.plans).toBe(1);
    // The compiler asks most of them several times, 77 in all.
    expect(plans.contents.questions).toBeLessThanOrEqual(15);
  });

  test('counts the texts and the questions of its plans, and stays below its maximum size', () => {
    const maxBytes = 300_000;
    const plans = new PlanCache(product, undefined, maxBytes);
    const caller = random.pick(callers);
    for (let index = 0; index < 200; index++) {
      const { text } = compilePage(pageOf(product.byKind('task'), `id${index}`), caller, plans);
      const { questions, bytes, plans: count } = plans.contents;
      // The texts differ by the digits of the index only.
      expect(bytes).toBeGreaterThan(count * (text.length - 9) + questions * 300);
      expect(bytes).toBeLessThanOrEqual(maxBytes);
    }
    expect(plans.compilations).toBe(200);
    // It is full, and dropped the oldest.
    expect(plans.contents.plans).toBeLessThan(150);
    expect(plans.contents.plans).toBeGreaterThan(20);
  });
});
