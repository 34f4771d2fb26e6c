import { Type } from 'typebox';
import { inWords, snakeCase } from '../../base/snake-case.ts';
import { roles } from '../caller.ts';
import type { Field } from '../declared-field.ts';
import { defineEntityModule, type EntityModule } from '../define.ts';
import { payload } from '../events.ts';
import { choice, integer, json, member, reference, text, timestamp } from '../fields.ts';
import { aboutHidden, allow, anyone, deny, role, scope, system } from '../policy.ts';

/**
 * Statuses of a proposal. `draft`: its submitter has not submitted it yet. `submitted`: people decide. The others are ends; `rejected` is
 * also that of a proposal that was approved and could not be applied.
 */
const proposalStatuses = ['draft', 'submitted', 'applied', 'rejected', 'withdrawn'] as const;

/** Name of the kind of the proposals about records of another one. */
export function proposalKindOf({ kind }: Pick<EntityModule, 'kind'>): string {
  return `${kind}Proposal`;
}

/** Name of the field of a proposal that refers to the record. */
export function proposedRecordField({ kind }: Pick<EntityModule, 'kind'>): string {
  return `${kind}Id`;
}

/**
 * The kind of proposals about another kind (behaviour `automated`): each is a change or deletion of one record that waits for approvals.
 * As a kind it has a table, history and events. People and programs that view the record view its proposals; only the server writes them.
 */
export function proposalOf(module: EntityModule): EntityModule {
  const { kind, typeName } = module;
  const field = proposedRecordField(module);
  // Widened, as the computed name widens the others.
  const about: Readonly<Record<string, Field>> = proposalFields(module);
  return defineEntityModule({
    kind: proposalKindOf(module),
    table: `${snakeCase(kind)}_proposals`,
    description: `Change or deletion of one ${inWords(kind)} that waits for approvals.`,
    fields: {
      [field]: reference(kind, `Record that changes when the proposal is approved.`, {
        immutable: true,
        onDelete: 'cascade',
        reverse: 'proposals',
        exposed: 'read',
        lists: ['filter'],
      }),
      ...about,
    },
    unique: [{ fields: ['openKey'], message: `A proposal about this ${typeName} is open already.` }],
    tenancy: 'organization',
    ...(module.productModules && { productModules: module.productModules }),
    policy: {
      view: [allow(system), deny(aboutHidden(field)), allow(role(...roles)), allow(scope), deny(anyone)],
      create: [allow(system)],
      edit: [allow(system)],
      remove: [allow(system)],
    },
    // They are deleted together with their records alone, which is not announced.
    events: ['created', 'updated'],
    customEvents: {
      submitted: {
        description: 'A proposal was submitted: people decide about it.',
        payload: payload({ revision: Type.Integer({ description: 'Number of the submission, from 1.' }) }),
      },
      ended: {
        description: 'A proposal has ended.',
        payload: payload({ status: Type.String({ description: 'How it ended: applied, rejected or withdrawn.' }) }),
      },
    },
  });
}

function proposalFields({ typeName, table }: EntityModule) {
  return {
    definitionId: reference('workflowDefinition', 'Definition of the workflow that holds the change.', {
      immutable: true,
      onDelete: 'cascade',
      reverse: `${camelCase(table)}Proposals`,
      exposed: 'read',
      lists: ['filter'],
    }),
    instanceId: reference('workflowInstance', 'Workflow that decides; null before the first submission.', {
      optional: true,
      reverse: `${camelCase(table)}Proposals`,
      exposed: 'read',
      lists: ['filter'],
    }),
    trigger: choice('Whether the record is to be changed (update) or deleted (delete).', ['update', 'delete'], {
      default: 'update',
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    domain: text('Names of the proposed fields, sorted and separated by commas; empty for a deletion.', {
      min: 0,
      max: 10_000,
      exposed: 'read',
    }),
    changes: json('Proposed values by field.', { maxBytes: 1_000_000, exposed: 'read' }),
    baseValues: json('Values of these fields when the change was proposed.', { maxBytes: 1_000_000, exposed: 'read' }),
    hash: text('SHA-256 of the proposed values, in hexadecimal: a decision names the values that it is about.', {
      max: 64,
      exposed: 'read',
    }),
    revision: integer('Number of the submission, from 1; each change of the proposal is a new one.', {
      min: 1,
      max: 1_000_000,
      default: 1,
      exposed: 'read',
    }),
    status: choice(
      'draft: not submitted yet. submitted: people decide. applied: approved and written. rejected: rejected, or approved and refused when it was written; reason has the cause. withdrawn: withdrawn by its submitter.',
      proposalStatuses,
      { default: 'submitted', exposed: 'read', lists: ['filter'] },
    ),
    submitterId: member('Person who proposes the change; null for a program.', {
      optional: true,
      immutable: true,
      onLeave: 'keep',
      reverse: `submitted${typeName}Proposals`,
      exposed: 'read',
      lists: ['filter'],
    }),
    submitterTokenId: text('Id of the token with which the change was made; null without one.', {
      max: 26,
      optional: true,
      immutable: true,
    }),
    submittedAt: timestamp('When it was last submitted; null for a draft.', {
      optional: true,
      exposed: 'read',
      lists: ['order'],
    }),
    endedAt: timestamp('When it ended; null while it is open.', {
      optional: true,
      exposed: 'read',
      lists: ['filter', 'order'],
    }),
    reasonCode: text(
      'Code of the end, such as rejected, overdue, out_of_reach (too few people can decide), cancelled or forced, or the code of the error with which an approved change was refused.',
      {
        max: 64,
        optional: true,
        exposed: 'read',
      },
    ),
    reason: text('Why it ended so, as text for people.', { max: 2_000, lines: true, optional: true, exposed: 'read' }),
    openKey: text('Ids of record and definition while it is open: a definition has one open proposal for a record.', {
      max: 60,
      optional: true,
    }),
  };
}

function camelCase(table: string): string {
  return table.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
