import { roles } from '#entities/kit/model/caller.ts';
import {
  decidingRelation,
  deriveModel,
  parentContext,
  referenceRelation,
  type ModelRelation,
} from '#entities/kit/model/authorization-model.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { creatorRelation, hasObjectRights, passingFields, scopeRelations } from '#entities/kit/model/policy.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { Rights } from './records/rights-files.ts';

interface TupleLine {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

interface Check {
  readonly user: string;
  readonly object: string;
  readonly assertions: Readonly<Record<string, boolean>>;
}

/** Tests of the authorization model in the format of the store's own tool (`fga model test --tests FILE`). */
export interface StoreTests {
  readonly name: string;
  readonly model_file: string;
  readonly tuples: readonly TupleLine[];
  readonly tests: readonly { readonly name: string; readonly check: readonly Check[] }[];
}

/** Situations in which every caller is asked, not only those named. */
const impersonal = new Set(['any', 'other', 'private', 'public']);
const tokens = { reader: 'view', writer: 'edit', remover: 'remove' } as const;
/** Callers that the store knows nothing of are refused before it is asked: who is not signed in, and who left. */
const callers = [...roles, ...Object.keys(tokens), 'outsider'] as const;

const organization = 'organization:acme';

/**
 * Derives the tests of the authorization store from the expected rights: each situation becomes tuples, each expected right an
 * assertion. Besides, every relation that tuples give directly is granted to a subject and refused to another, so relations of a
 * new kind are covered without further lines.
 */
export function storeTests(registry: Registry, rights: ReadonlyMap<string, Rights>): StoreTests {
  const tests = new StoreTestsBuilder(registry);
  tests.addRoles();
  for (const module of registry.modules) tests.addScopes(module);
  for (const [kind, situations] of rights)
    for (const situation of Object.keys(situations)) tests.addSituation(registry.byKind(kind), situation, situations);
  for (const module of registry.modules) tests.addFurtherParents(module);
  tests.addDirectRelations();
  return tests.build();
}

class StoreTestsBuilder {
  readonly #registry: Registry;
  readonly #model: ReadonlyMap<string, ReadonlyMap<string, ModelRelation>>;
  readonly #tuples = new Map<string, TupleLine>();
  readonly #tests = new Map<string, Check[]>();

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#model = new Map(
      deriveModel(registry).map(({ name, relations }) => [
        name,
        new Map(relations.map((relation) => [relation.name, relation])),
      ]),
    );
  }

  build(): StoreTests {
    return {
      name: 'core',
      model_file: '../entities/authorization.fga',
      tuples: [...this.#tuples.values()],
      tests: [...this.#tests].map(([name, check]) => ({ name, check })),
    };
  }

  /** A role is one role, makes a participant, and holds in child organizations, not in parents. */
  addRoles(): void {
    this.#tuple('organization:holding', 'parent', organization);
    for (const role of roles) {
      for (const place of [organization, 'organization:holding']) {
        const user = `user:${role}_of_${place.slice('organization:'.length)}`;
        this.#tuple(user, role, place);
        const only = Object.fromEntries(roles.map((name) => [name, name === role]));
        this.#check('roles', user, organization, { ...only, participant: true });
      }
      this.#check('roles', `user:${role}_of_acme`, 'organization:holding', { [role]: false, participant: false });
      this.#check('roles', 'user:stranger', organization, { [role]: false, participant: false });
    }
  }

  /** Adds checks of the scopes of API tokens, which are valid in their own organization only. */
  addScopes({ kind }: EntityModule): void {
    const relations = (['view', 'edit', 'remove'] as const).map(
      (operation) => scopeRelations({ kind, operation })[0] as string,
    );
    if (!this.#relation('organization', relations[0] as string)) return;
    for (const [level, relation] of relations.entries()) {
      const user = `service:${relation}`;
      this.#tuple(user, relation, organization);
      const included = Object.fromEntries(relations.map((name, index) => [name, index <= level]));
      this.#check('scopes', user, organization, included);
      this.#check('scopes', user, 'organization:other', Object.fromEntries(relations.map((name) => [name, false])));
    }
  }

  addSituation(module: EntityModule, situation: string, { [situation]: allowed = {} }: Rights): void {
    const asked = callers.filter(
      (name) => impersonal.has(situation) || (name !== 'outsider' && Object.hasOwn(allowed, name)),
    );
    const test = `${module.kind}: ${situation}`;
    const object = hasObjectRights(module.policy) ? `${module.topic}:${slug(situation)}` : undefined;
    for (const name of asked) {
      const user = this.#caller(module, situation, name);
      const words = new Set((allowed[name] ?? '').split(' '));
      if (object !== undefined) {
        this.#give(module, situation.split(' '), object, user);
        const assertions = Object.entries(decidingRelation)
          .filter(([, relation]) => this.#relation(module.topic, relation))
          // Auditors only read: their changes are refused before the store is asked.
          .filter(([operation]) => name !== 'auditor' || operation === 'view' || impersonal.has(situation))
          .map(([operation, relation]) => [relation, words.has(operation)] as const);
        this.#check(test, user, object, Object.fromEntries(assertions));
        // Nobody has rights on a record that no tuple connects with an organization.
        if (name === 'owner')
          this.#check(
            test,
            user,
            `${module.topic}:loose`,
            Object.fromEntries(assertions.map(([each]) => [each, false])),
          );
      }
      this.#checkCreation(test, module, user, words.has('create'), impersonal.has(situation));
    }
  }

  /** If creation also depends on the record above, the organization alone grants it to API tokens only. */
  #checkCreation(
    test: string,
    { topic, policy }: EntityModule,
    user: string,
    expected: boolean,
    isAsked: boolean,
  ): void {
    const relation = `can_create_${topic}`;
    if (!this.#relation('organization', relation) || !(isAsked || expected)) return;
    if (policy?.create.some(({ when }) => when.is === 'through')) {
      if (user.startsWith('service:') && !user.endsWith('reader'))
        this.#check(test, user, organization, { [relation]: true });
      if (!user.startsWith('service:')) this.#check(test, user, organization, { [relation]: false });
      return;
    }
    this.#check(test, user, organization, { [relation]: expected });
  }

  /** One subject for each situation and caller, so that no situation gives rights in another. */
  #caller(module: EntityModule, situation: string, name: string): string {
    const id = `${module.topic}_${slug(situation)}_${name}`;
    if (Object.hasOwn(tokens, name)) {
      const operation = tokens[name as keyof typeof tokens];
      const [relation = ''] = scopeRelations({ kind: module.kind, operation });
      if (this.#relation('organization', relation)) this.#tuple(`service:${id}`, relation, organization);
      return `service:${id}`;
    }
    if (name === 'outsider') this.#tuple(`user:${id}`, 'owner', 'organization:other');
    else this.#tuple(`user:${id}`, name, organization);
    return `user:${id}`;
  }

  /** The tuples of a record towards which a user is in a situation. */
  #give(module: EntityModule, words: readonly string[], object: string, user: string): void {
    this.#tuple(organization, parentContext, object);
    const position = words.indexOf('above');
    const own = position < 0 ? words : words.slice(0, position);
    for (const word of own) this.#grant(module, word, object, user);
    const [passing = ''] = passingFields(module.policy);
    const reference = module.fields[passing];
    // A verdict is always on the file of one record, whichever of its references names it.
    if (
      !reference?.target ||
      (position < 0 && reference.optional && !module.behaviours?.some(({ verdicts }) => verdicts))
    )
      return;
    const target = this.#registry.byKind(reference.target);
    let below = object;
    for (let level = own.includes('far') ? 3 : 1; level > 0; level--) {
      const above = `${target.topic}:above_${below.replace(':', '_')}`;
      this.#tuple(above, referenceRelation(passing), below);
      this.#tuple(organization, parentContext, above);
      below = above;
    }
    for (const relation of grantedAbove(module, own, passing)) this.#tuple(user, relation, below);
    this.#give(target, position < 0 ? ['any'] : words.slice(position + 1), below, user);
  }

  #grant(module: EntityModule, word: string, object: string, user: string): void {
    if (word === 'any' || word === 'far' || word === 'private') return;
    const group = `group:of_${object.replace(':', '_')}`;
    if (word === 'creators') {
      this.#tuple(`${group}#member`, creatorRelation(module.kind), organization);
      return this.#tuple(user, 'member', group);
    }
    const name = word === 'public' ? 'viewer' : word;
    const relation = this.#relation(module.topic, name);
    if (!relation) throw new Error(`the model has no relation "${name}" on ${module.topic}`);
    const [direct] = relation.direct;
    if (direct?.type === 'group') {
      this.#tuple(`${group}_${word}#member`, name, object);
      return this.#tuple(user, 'member', `${group}_${word}`);
    }
    return this.#tuple(direct?.type === 'organization' ? `${organization}#participant` : user, name, object);
  }

  /** References by which a record gets rights, besides the first, which the situations are about. */
  addFurtherParents(module: EntityModule): void {
    for (const field of passingFields(module.policy).slice(1)) {
      const { target = '' } = module.fields[field] ?? {};
      const above = `${this.#registry.byKind(target).topic}:above_by_${snakeCase(field)}`;
      this.#tuple(above, referenceRelation(field), `${module.topic}:by_${snakeCase(field)}`);
    }
  }

  /** Each relation that tuples give: granted where one does, refused to a subject of the same type without one. */
  addDirectRelations(): void {
    const seen = new Set<string>();
    for (const { user, relation, object } of this.#tuples.values()) {
      const [type = ''] = object.split(':');
      if (seen.has(`${type}#${relation}`)) continue;
      seen.add(`${type}#${relation}`);
      this.#check('direct relations', this.#someoneOf(user), object, { [relation]: true });
      const stranger = `${user.includes('#') ? 'user' : user.split(':')[0]}:stranger`;
      this.#check('direct relations', stranger, object, { [relation]: false });
    }
  }

  /** A subject itself, or somebody who has the relation that it names: `group:x#member` → `user:y`. */
  #someoneOf(subject: string): string {
    const [object = '', relation] = subject.split('#');
    if (relation === undefined) return subject;
    if (object === organization) return 'user:owner_of_acme';
    return (
      [...this.#tuples.values()].find((tuple) => tuple.object === object && tuple.relation === relation)?.user ??
      subject
    );
  }

  #relation(type: string, name: string): ModelRelation | undefined {
    return this.#model.get(type)?.get(name);
  }

  #tuple(user: string, relation: string, object: string): void {
    this.#tuples.set(`${user} ${relation} ${object}`, { user, relation, object });
  }

  #check(test: string, user: string, object: string, assertions: Readonly<Record<string, boolean>>): void {
    if (Object.keys(assertions).length === 0) return;
    this.#tests.set(test, [...(this.#tests.get(test) ?? []), { user, object, assertions }]);
  }
}

/** Relations to the record above that come with a relation to this one: one row grants both. */
function grantedAbove({ grants = [] }: EntityModule, words: readonly string[], passing: string): string[] {
  return grants.flatMap((grant) => {
    if (grant.object.id !== passing || grant.when || typeof grant.relation !== 'string') return [];
    const own = grants.find(
      ({ relation, subject }) => subject.id === grant.subject.id && words.some((word) => word === relation),
    );
    return own ? [grant.relation] : [];
  });
}

/** A situation as part of an id. */
function slug(situation: string): string {
  return snakeCase(situation).replaceAll(' ', '_');
}
