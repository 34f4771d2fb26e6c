import { AppError } from '../../kit/base/errors.ts';
import { newId } from '../../kit/base/ids.ts';
import type { Caller } from '../../kit/model/caller.ts';
import type { EntityModule } from '../../kit/model/define.ts';
import { proposalKindOf } from '../../kit/model/derived/proposal.ts';
import type { Registry } from '../../kit/model/registry.ts';
import type { ChangeWork, GateRequest, Gates as Port } from '../../kit/write/change-work.ts';
import type { HeldField } from '../../kit/write/held-changes.ts';
import type { Expressions } from '../document/expressions.ts';
import { proposalKey } from '../proposed-values.ts';
import { Gates } from './gate.ts';
import { matchGates, triggerOf, type GateMatch } from './match-gates.ts';
import { SelectorFacts } from '../matching/selector-facts.ts';
import { readOpenProposals, serverData, type OpenProposal } from './open-proposals.ts';
import { recordProposals, type WantedProposal } from './record-proposals.ts';
import { isSame, submitterOf } from './submitter.ts';

export interface GateParts {
  readonly registry: Registry;
  readonly expressions: Expressions;
  /** `workflows.enabled`. */
  readonly isEnabled: () => boolean;
}

/** Changes that one unit of work can have held at most. */
const maxHeld = 1_000;

/** Gates of published definitions, as the data layer asks them (docs/decisions/gates-in-the-request.md). */
export function createGates({ registry, expressions, isEnabled }: GateParts): Port {
  const gates = new Gates(registry, expressions);
  const wanted = new WeakMap<ChangeWork, Map<string, readonly WantedProposal[]>>();
  const counts = new WeakMap<ChangeWork, number>();
  return {
    isEnabled,
    hold: async (work, caller, request) => {
      const found = await gates.of(work, request.gates, request.module);
      if (found.length === 0) return new Map();
      const userId = caller.kind === 'user' ? caller.subjectId : null;
      const data = serverData(work);
      const { module } = request;
      const { matches } = await matchGates(
        found,
        { ...request, userId, at: work.clock.now() },
        expressions,
        (change) => {
          const { row, changed } = change;
          return new SelectorFacts(work, data, { module, id: row['id'] as string, values: { ...row, ...changed } });
        },
      );
      if (matches.length === 0) return new Map();
      const decided = await decide(work, caller, request, matches);
      const known = wanted.get(work) ?? new Map<string, readonly WantedProposal[]>();
      wanted.set(work, known);
      for (const [id, own] of decided) if (!(own instanceof AppError)) known.set(id, own);
      return new Map(
        Array.from(decided, ([id, own]) => [id, own instanceof AppError ? own : heldFields(request, own)]),
      );
    },
    record: async (work, caller, request) => {
      const known = wanted.get(work);
      const own = request.changes.flatMap(({ row }) => {
        const id = row['id'] as string;
        const proposals = known?.get(id) ?? [];
        known?.delete(id);
        return proposals;
      });
      const count = (counts.get(work) ?? 0) + own.length;
      counts.set(work, count);
      if (count > maxHeld) {
        const message = `More than ${maxHeld} changes of this request would wait for approvals, so none was made; split it.`;
        throw new AppError('limit_exceeded', message);
      }
      await recordProposals(work, caller, request, own);
    },
  };
}

/** The proposals about each record, or why its change is refused. */
async function decide(
  work: ChangeWork,
  caller: Caller,
  { module, operation, changes }: GateRequest,
  matches: readonly GateMatch[],
): Promise<Map<string, readonly WantedProposal[] | AppError>> {
  const submitter = submitterOf(caller);
  const changed = new Map(changes.map((change) => [change.row['id'] as string, change.changed]));
  const keys = matches.map(({ gate, row }) => proposalKey(gate.definitionId, row['id'] as string));
  const open = submitter ? await readOpenProposals(work, module, keys) : new Map<string, OpenProposal>();
  const decided = new Map<string, readonly WantedProposal[] | AppError>();
  for (const [id, own] of Map.groupBy(matches, ({ row }) => row['id'] as string)) {
    const proposals = own.map(({ gate, row, fields, approvals, traced }): WantedProposal | AppError => {
      if (!submitter) return cannotPropose(module, gate.name);
      const existing = open.get(proposalKey(gate.definitionId, id));
      const trigger = triggerOf(operation);
      if (existing && !(isSame(existing, submitter) && existing.trigger === trigger))
        return alreadyOpen(module, existing, gate.name);
      const values = Object.fromEntries(fields.map((field) => [field, changed.get(id)?.[field]]));
      const proposalId = existing?.id ?? newId();
      return { gate, row, trigger, values, submitter, proposalId, existing, approvals, traced };
    });
    const refusal = proposals.find((one): one is AppError => one instanceof AppError);
    decided.set(id, refusal ?? proposals.filter((one): one is WantedProposal => !(one instanceof AppError)));
  }
  return decided;
}

function heldFields({ module }: GateRequest, proposals: readonly WantedProposal[]): HeldField[] {
  return proposals.flatMap(({ gate, trigger, values, proposalId }) => {
    const held = {
      message: `It waits for the approval that the workflow "${gate.name}" requires.`,
      proposal: { kind: proposalKindOf(module), id: proposalId },
    };
    const fields = trigger === 'delete' ? [null] : Object.keys(values);
    return fields.map((field) => ({ field, ...held }));
  });
}

function cannotPropose({ typeName }: EntityModule, name: string): AppError {
  const message = `This change of the ${typeName} needs an approval (workflow "${name}"), and only members and API tokens can propose one.`;
  return new AppError('permission_denied', message);
}

function alreadyOpen(module: EntityModule, { id }: OpenProposal, name: string): AppError {
  const message = `Another proposal about this ${module.typeName} is open (${proposalKindOf(module)} ${id} of the workflow "${name}"): wait until it is decided, or have it withdrawn.`;
  return new AppError('proposal_open', message);
}
