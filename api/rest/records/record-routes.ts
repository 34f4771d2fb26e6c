import { Type, type TObject } from 'typebox';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import { refusalsOf } from '#entities/kit/model/behaviour.ts';
import type { EntityModule, Mutation } from '#entities/kit/model/define.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { ErrorCode } from '#entities/kit/base/errors.ts';
import { changeableFields, isExposed, writableFields } from '#entities/kit/model/exposure.ts';
import { linksOf, withoutLinks } from '#entities/kit/model/links.ts';
import type { ScopeVerb } from '#entities/kit/model/scope-relations.ts';
import { isOpenToTokens } from '#entities/kit/model/scopes.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import type { DownloadBases } from '#entities/kit/read/file-selection.ts';
import type { RecordSelection } from '#entities/kit/read/selection.ts';
import { linksAsChildren } from '#entities/kit/write/creations.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { deletionNote, proofNote, requireProofFor, requireProofToDelete } from '../../credentials/required-proof.ts';
import { checkNewAddresses } from '../../http/check-new-addresses.ts';
import { namesTag } from '../../http/response/entity-tags.ts';
import { defineRoute, type Call, type Route } from '../../http/route.ts';
import { withSavedView } from '../../people/apply-saved-view.ts';
import { aggregateRoute } from './aggregate-route.ts';
import { ifMatch, ifMatchHeaders } from './if-match.ts';
import { inSnakeCase } from './in-snake-case.ts';
import { importTemplateRoutes } from './import-template.ts';
import { listQuerySchema, listSelection } from './list-query.ts';
import { recordNames } from './record-names.ts';
import { selectionOf } from './record-selection.ts';
import { listedSchema, pageSchema, withColumns } from './record-pages.ts';
import { hasWholeVersion, matching, notModified, openSuffix, sendEntityTag, taggedIn } from './record-version.ts';
import { announcedInstead, deletionParts } from './deletion-parts.ts';
import { changed, deleted, heldNote } from './change-responses.ts';
import { changeSchema, changedRecordSchema, creationSchema, recordSchema } from './record-schema.ts';
import { idSchema } from '../../http/request-schemas.ts';

/**
 * The routes of every exposed kind: a list, a look-up by id, and the mutations that the kind offers (`mutate`). Reads are compiled
 * to one statement by the same compiler as GraphQL reads.
 */
export function recordRoutes(registry: Registry, bases: DownloadBases): Route[] {
  return registry.modules.filter(isExposed).flatMap((module) => routesOf(registry, module, bases));
}

/** Tags of the reference, one for each kind. */
export function recordTags(registry: Registry): { readonly name: string; readonly description: string }[] {
  return registry.modules.filter(isExposed).map((module) => {
    return { name: recordNames(module).tag, description: module.description };
  });
}

function routesOf(registry: Registry, module: EntityModule, bases: DownloadBases): Route[] {
  const offered = module.mutate ?? [];
  const record = selectionOf(registry, module, bases);
  const answer = recordSchema(module);
  // The data layer confines each session to what it may reach.
  const openTo = (verb: ScopeVerb, route: Route, errors = organizationErrors(module)): Route => ({
    ...route,
    errors: [...route.errors, ...errors],
    ...(isOpenToTokens(module, verb) ? { acceptsTokens: true } : {}),
    acceptsSingleSignOn: true,
  });
  return [
    openTo('read', listRoute(registry, record, answer)),
    openTo('read', aggregateRoute(registry, module)),
    ...importTemplateRoutes(registry, module).map((route) => openTo('read', route, [])),
    openTo('read', readRoute(record, answer)),
    ...(offered.includes('create')
      ? [openTo('write', withDeprecation(module, 'create', createRoute(registry, record, answer)))]
      : []),
    ...(offered.includes('update')
      ? [openTo('write', withDeprecation(module, 'update', updateRoute(registry, record, answer)))]
      : []),
    ...(offered.includes('delete') ? [openTo('delete', withDeprecation(module, 'delete', deleteRoute(module)))] : []),
  ];
}

/** A route that says so when an action takes its place. */
function withDeprecation({ deprecatedMutations }: EntityModule, verb: Mutation, route: Route): Route {
  const replaced = deprecatedMutations?.[verb];
  if (!replaced) return route;
  const { since, instead } = replaced;
  const description = `${route.description} Use ${instead} instead.`;
  return { ...route, description, deprecated: { since, explainedAt: `/docs#${instead}` } };
}

const idAlone = 'The response has only the id if the caller cannot view the record after the change.';

/** Errors for callers who act in no organization; what is their own they reach everywhere (`rlsUsing`). */
function organizationErrors({ tenancy, rlsUsing }: EntityModule): readonly ErrorCode[] {
  return tenancy === 'organization' && !rlsUsing ? ['no_current_organization'] : [];
}

/** Errors that the kind has by rules of its own. */
function ruleErrors(module: EntityModule, change: 'create' | 'edit' | 'remove'): readonly ErrorCode[] {
  const refusals = refusalsOf(module).filter(({ on = ['create'] }) => on.includes(change));
  return [
    ...refusals.map(({ code }) => code),
    ...(change === 'remove' ? [] : (module.behaviours ?? []).flatMap(({ checkErrors = [] }) => checkErrors)),
    ...(module.needsProof && change !== 'remove' ? (['step_up_required'] as const) : []),
    ...(module.needsPaymentMethod && change === 'create' ? (['payment_method_required'] as const) : []),
  ];
}

const params = Type.Object({ id: idSchema('Id of the record.') });

function idOf(module: EntityModule, { params }: Call<unknown>): string {
  return existingId(module, params['id'] ?? '');
}

function listRoute(registry: Registry, record: RecordSelection, answer: TObject): Route {
  const { module } = record;
  const { path, plural, tag, many } = recordNames(module);
  return defineRoute({
    method: 'GET',
    url: path,
    operationId: `list${many}`,
    tag,
    summary: `List ${plural}`,
    description: `${module.description} Lists the records that the caller can view, in pages, sorted by id unless order_by is given${module.search ? '; with search, the best matches come first' : ''}.`,
    access: 'required',
    query: listQuerySchema(registry, module),
    answers: { 200: pageSchema(module, listedSchema(module, answer)) },
    errors: ['invalid_input', 'invalid_cursor', 'limit_exceeded', 'not_found'],
    handle: async ({ unit, query, services }) => {
      const { maxresultlimit } = services.config.current.server;
      const page = listSelection(registry, record, query, maxresultlimit);
      const view = query['view'] as string | undefined;
      if (view === undefined) return { status: 200, json: await unit.data.answers.singleStatementPage(page) };
      const given = {
        hasOrder: query['order_by'] !== undefined || query['search'] !== undefined,
        hasSize: query['first'] !== undefined || query['last'] !== undefined,
      };
      const { data } = unit;
      const viewed = await withSavedView(page, view, given, { data, registry, largestPage: maxresultlimit });
      const shown = viewed.columns ? withColumns(viewed.page, viewed.columns) : viewed.page;
      return { status: 200, body: await data.answers.page(shown) };
    },
  });
}

function readRoute(record: RecordSelection, answer: TObject): Route {
  const { module } = record;
  const { path, singular, tag, one } = recordNames(module);
  const isWhole = hasWholeVersion(record);
  return defineRoute({
    method: 'GET',
    url: `${path}/:id`,
    operationId: `get${one}`,
    tag,
    summary: `Get one ${singular}`,
    description: `Returns not_found if the record does not exist, is deleted, or cannot be viewed by the caller. The ETag of the answer is the record version${module.automation ? `, followed by \`${openSuffix}\` while \`has_open_proposal\` is true; If-Match compares the version alone` : ''}.`,
    access: 'required',
    params,
    sends: ['ETag'],
    answers: isWhole ? { 200: answer, 304: notModified } : { 200: answer },
    errors: ['not_found'],
    handle: async (call) => {
      const json = await call.unit.data.answers.singleStatementRecord(record, idOf(module, call));
      const etag = sendEntityTag(call.reply, taggedIn(json));
      if (isWhole && namesTag(call.request.headers['if-none-match'], etag)) return { status: 304, body: undefined };
      return { status: 200, json };
    },
  });
}

function createRoute(registry: Registry, record: RecordSelection, answer: TObject): Route {
  const { module } = record;
  const { path, singular, tag, one } = recordNames(module);
  const links = linksOf(registry, module);
  const names = namesOf([...writableFields(module).map(([name]) => name), ...links.map(({ add }) => add)]);
  return defineRoute({
    method: 'POST',
    url: path,
    operationId: `create${one}`,
    tag,
    summary: `Create one ${singular}`,
    description: `${module.description} The record is created in the current organization of the caller.${proofNote(module, snakeCase)} ${idAlone}`,
    access: 'required',
    body: creationSchema(module, links),
    sends: ['ETag', 'Location'],
    answers: { 201: answer },
    errors: ['not_found', 'permission_denied', 'already_exists', ...ruleErrors(module, 'create')],
    handle: (call) =>
      inSnakeCase(async () => {
        const { unit, body, reply, services } = call;
        const { values: input, links: linked } = withoutLinks(registry, module, valuesOf(names, body), '');
        await checkNewAddresses(services, [{ module, input, path: '' }]);
        const [row] = await unit.data.createAll([{ module, input, path: '', children: linksAsChildren(linked) }]);
        await requireProofFor(call, [{ module, values: input }]);
        const id = row?.['id'] as string;
        void reply.header('location', `${path}/${id}`);
        return await changed(201, record, id, unit, reply);
      }, call.body),
  });
}

function updateRoute(registry: Registry, record: RecordSelection, answer: TObject): Route {
  const { module } = record;
  const { path, singular, tag, one } = recordNames(module);
  const links = linksOf(registry, module);
  const changedAnswer = changedRecordSchema(module, answer);
  const names = namesOf([
    ...changeableFields(module).map(([name]) => name),
    ...links.flatMap(({ add, remove }) => [add, remove]),
  ]);
  return defineRoute({
    method: 'PATCH',
    url: `${path}/:id`,
    operationId: `update${one}`,
    tag,
    summary: `Update one ${singular}`,
    description: `Omitted fields stay unchanged; null clears an optional field.${proofNote(module, snakeCase)} ${idAlone}${heldNote(module)}`,
    access: 'required',
    params,
    headers: ifMatchHeaders,
    body: changeSchema(module, links),
    sends: module.automation ? ['ETag', 'Link'] : ['ETag'],
    answers: module.automation ? { 200: changedAnswer, 202: changedAnswer } : { 200: changedAnswer },
    errors: [
      'not_found',
      'permission_denied',
      'already_exists',
      'stale_record',
      'precondition_failed',
      ...ruleErrors(module, 'edit'),
    ],
    handle: (call) =>
      inSnakeCase(async () => {
        const id = idOf(module, call);
        const { record_version: recordVersion, ...changes } = call.body;
        const { values, links: linked } = withoutLinks(registry, module, valuesOf(names, changes), '');
        await matching(ifMatch(call), recordVersion as number | undefined, (versions) =>
          call.unit.data.updateLinked(module, id, values, linked, versions),
        );
        await requireProofFor(call, [{ module, values }]);
        const isHeld = call.unit.data.isHeld(id) && linked.every(({ ids }) => ids.length === 0);
        return await changed(isHeld ? 202 : 200, record, id, call.unit, call.reply);
      }, call.body),
  });
}

function deleteRoute(module: EntityModule): Route {
  const { path, singular, tag, one } = recordNames(module);
  const { query, answers, errors } = deletionParts(module);
  return defineRoute({
    method: 'DELETE',
    url: `${path}/:id`,
    operationId: `delete${one}`,
    tag,
    summary: `Delete one ${singular}`,
    description: `Deletes the record together with its dependent records.${deletionNote(module)}`,
    access: 'required',
    params,
    headers: ifMatchHeaders,
    query,
    ...(module.automation ? { sends: ['Link'] as const } : {}),
    answers,
    errors: [
      'not_found',
      'permission_denied',
      'stale_record',
      'precondition_failed',
      ...ruleErrors(module, 'remove'),
      ...errors,
      ...(module.deletionNeedsProof ? (['step_up_required'] as const) : []),
    ],
    handle: async (call) => {
      const announced = await announcedInstead(call, module, idOf(module, call));
      if (announced) return announced;
      const recordVersion = call.query['record_version'] as number | undefined;
      await matching(ifMatch(call), recordVersion, (versions) =>
        call.unit.data.remove(module, idOf(module, call), versions),
      );
      await requireProofToDelete(call, module);
      return deleted(idOf(module, call), call);
    },
  });
}

/** Field names by their names in request bodies. */
function namesOf(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [snakeCase(name), name]));
}

/** The schema has rejected unknown names. */
function valuesOf(names: ReadonlyMap<string, string>, body: RecordJson): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [names.get(name) as string, value]));
}
