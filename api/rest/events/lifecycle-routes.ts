import { Type, type Static } from 'typebox';
import type { LifecycleRow } from '#entities/organizations/lifecycle-rows.ts';
import { maxDays } from '#runtime/lifecycle-operations.ts';
import { requireOperator } from '../../credentials/required-operator.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { pageSlice } from '../../http/response/page-slice.ts';
import { defineRoute, type Call, type Route } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { inSnakeCase } from '../records/in-snake-case.ts';
import { askedByOperator, asOperator } from './as-operator.ts';
import { instant, nullable, pageParts, ReasonPart } from './delivery-schemas.ts';

// It reads all organizations, in a transaction of its own.
const common = { access: 'required', tag: 'Operations', runsOnce: true } as const;

const time = (description: string) => nullable('string', description, { format: 'date-time' });

const marks = {
  id: Type.String({ description: 'Id of the organization.' }),
  name: Type.String({ description: 'Name of the organization.' }),
  created_at: instant('When the organization was created.'),
  marked_for_deletion_at: time('When it was marked for deletion; null when it is not marked.'),
  deleted_at: time('When it is deleted if nothing else happens; null when it is not marked.'),
  deletion_notice: nullable('string', 'Last notice that people were sent; null before the first.'),
  deletion_requester_id: nullable('string', 'Id of the owner who has announced the deletion; null if nobody has.'),
};

const ListedSchema = Type.Object(marks, { title: 'LifecycleOfOrganization' });

const ExplainedSchema = Type.Object(
  {
    ...marks,
    is_personal: Type.Boolean({ description: 'Whether it is a personal organization, which is never marked.' }),
    parent_id: nullable('string', 'Id of the organization above it, which decides for it; null for none.'),
    is_exempt: Type.Boolean({ description: 'Whether the domain of its founder needs no payment.' }),
    has_payment_method: Type.Boolean({ description: 'Whether it has a payment method.' }),
    subscription_statuses: Type.Array(Type.String(), { description: 'Statuses of its subscriptions.' }),
    subscriptions_end_at: time(
      'When the last active or trialing subscription ends if nothing else happens; null if one continues, or if there is none.',
    ),
    trial_ends_at: time('When its trial ends; null without one.'),
    is_granted: Type.Boolean({ description: 'Whether an operator has granted modules to it or to one below it.' }),
    grants_end_at: time('When the last of these grants ends; null if one has no end, or if there is none.'),
    spared_until: time('Until when an operator spares it; null for none.'),
    action: nullable('string', 'Step that is due now: mark, announce, spare, delete; null for none.'),
    reason: Type.String({ description: 'Reason for that.' }),
    next_action: nullable('string', 'Next step if nothing else happens; null for none.'),
    next_at: time('When the next step is due.'),
    marking: Type.String({ enum: ['off', 'dry run', 'on'], description: 'State of the sweep that marks.' }),
    deleting: Type.String({ enum: ['off', 'on'], description: 'State of the sweep that deletes.' }),
  },
  { title: 'ExplainedLifecycle' },
);

interface LifecycleQuery {
  readonly within_days?: number;
  readonly after?: string;
  readonly first?: number;
}

const params = Type.Object({ id: idSchema('Id of the organization.') });

const until = (description: string) => Type.String({ minLength: 1, maxLength: 40, description });

const PostponeSchema = Type.Object(
  {
    until: until('Day, which begins in UTC, or instant (RFC 3339) before which it is not deleted.'),
    reason: ReasonPart,
  },
  { additionalProperties: false },
);

const SpareSchema = Type.Object(
  {
    until: Type.Optional(until('Day, which begins in UTC, or instant (RFC 3339); for ever when left out.')),
    reason: ReasonPart,
  },
  { additionalProperties: false },
);

/** Ends of organizations, for operators of the installation; `npm run lifecycle` does the same. */
export const lifecycleRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    method: 'GET',
    url: '/v1/operations/lifecycle',
    operationId: 'listLifecycle',
    summary: 'List organizations that are marked for deletion',
    description:
      'Marked organizations, the oldest mark first; with `within_days`, instead those that will be marked within so many days if nothing else happens. For operators of the installation, who have a second factor.',
    query: Type.Object(
      {
        within_days: Type.Optional(
          Type.Integer({ minimum: 1, maximum: maxDays, description: 'Number of days to look ahead.' }),
        ),
        after: Type.Optional(
          Type.String({ minLength: 1, maxLength: 200, description: '`next` of the previous page.' }),
        ),
        first: pageParts.first,
      },
      { additionalProperties: false },
    ),
    answers: {
      200: Type.Object({
        data: Type.Array(ListedSchema),
        next: nullable(
          'string',
          '`after` of the next page; null for the last one. A page can be empty and have a next one.',
        ),
      }),
    },
    errors: ['second_factor_required', 'limit_exceeded'],
    handle: (call) =>
      inSnakeCase(async () => {
        await asOperator(call, requireOperator);
        const { services } = call;
        const { within_days: days, after, first } = call.query as LifecycleQuery;
        const { size: limit } = pageSlice({ first: first ?? null }, services.config.current.server.maxresultlimit);
        const page = { limit, after };
        const { found, next } = await (days === undefined
          ? services.lifecycle.marked(page)
          : services.lifecycle.candidates({ ...page, days }));
        return { status: 200, body: { data: found.map((row) => shownMark(row, services)), next } };
      }),
  }),
  defineRoute({
    ...common,
    method: 'GET',
    url: '/v1/operations/lifecycle/:id',
    operationId: 'explainLifecycle',
    summary: 'Explain whether an organization is marked or deleted',
    description:
      'The facts that decide about the organization, what is due, and the next step if nothing else happens. For operators of the installation, who have a second factor.',
    params,
    answers: { 200: ExplainedSchema },
    errors: ['second_factor_required', 'not_found'],
    handle: async (call) => {
      await asOperator(call, requireOperator);
      const { facts, decision, next, marking, deleting } = await call.services.lifecycle.explain(
        call.params['id'] ?? '',
      );
      const body = {
        ...shownMark(facts, call.services),
        is_personal: facts.isPersonal,
        parent_id: facts.parentId,
        is_exempt: facts.isBypassed,
        has_payment_method: facts.hasPaymentMethod,
        subscription_statuses: facts.subscriptionStatuses,
        subscriptions_end_at: facts.subscriptionsEndAt,
        trial_ends_at: facts.trialEndsAt,
        is_granted: facts.isGranted,
        grants_end_at: facts.grantsEndAt,
        spared_until: facts.sparedUntil,
        action: decision.action,
        reason: decision.reason,
        next_action: next?.action ?? null,
        next_at: next?.at ?? null,
        marking,
        deleting,
      };
      return { status: 200, body };
    },
  }),
  change(
    'postpone',
    PostponeSchema,
    'Postpone the deletion of an organization',
    'Moves the day of the deletion of a marked organization. Notices that were sent are not sent again.',
    ({ services }, id, body, asked) => services.lifecycle.postpone(id, body.until, asked),
  ),
  change(
    'spare',
    SpareSchema,
    'Spare an organization',
    'Takes back the mark of an organization, also one that an owner has announced, and keeps it from being marked.',
    ({ services }, id, body, asked) => services.lifecycle.spare(id, body.until ?? null, asked),
  ),
];

function change<Body extends typeof PostponeSchema | typeof SpareSchema>(
  name: 'postpone' | 'spare',
  body: Body,
  summary: string,
  description: string,
  run: (
    call: Pick<Call<unknown>, 'services'>,
    id: string,
    body: Static<Body>,
    asked: { readonly operator: string; readonly reason: string },
  ) => Promise<string>,
): Route {
  return defineRoute({
    ...common,
    method: 'POST',
    url: `/v1/operations/lifecycle/:id/${name}`,
    operationId: `${name}Organization`,
    summary,
    description: `${description} For operators of the installation with a proof of the last ten minutes.`,
    params,
    body,
    answers: { 200: Type.Object({ done: Type.String({ description: 'Result, as text for people.' }) }) },
    errors: ['second_factor_required', 'step_up_required', 'not_found', 'rule_violated'],
    handle: (call: Call<Static<Body>>) =>
      inSnakeCase(async () => {
        const asked = await askedByOperator(call);
        return { status: 200, body: { done: await run(call, call.params['id'] ?? '', call.body, asked) } };
      }, call.body as object),
  });
}

function shownMark(row: LifecycleRow, { lifecycle }: Pick<Services, 'lifecycle'>) {
  return {
    id: row.id,
    name: row.name,
    created_at: row.createdAt,
    marked_for_deletion_at: row.markedForDeletionAt,
    deleted_at: lifecycle.deletedAt(row),
    deletion_notice: row.deletionNotice,
    deletion_requester_id: row.deletionRequesterId,
  };
}
