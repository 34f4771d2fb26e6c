import type { EntityModule } from '../../kit/model/define.ts';
import type { Registry } from '../../kit/model/registry.ts';
import type { ChangeWork } from '../../kit/write/change-work.ts';
import type { ApprovalAction, DefinitionDocument } from '../document/definition-document.ts';
import { environmentOf } from '../document/expression-environment.ts';
import type { Expressions } from '../document/expressions.ts';
import { heldFieldsOf } from '../document/publication.ts';
import { readGateVersions, type GateRow } from '../gate-rows.ts';

/** A published version that holds changes, prepared for matching. */
export interface Gate {
  readonly id: string;
  readonly definitionId: string;
  readonly name: string;
  readonly module: EntityModule;
  readonly document: DefinitionDocument;
  readonly approvals: readonly GateApproval[];
  /** Whether a held change waits for its submitter to submit it. */
  readonly isSubmittedByHand: boolean;
}

interface GateApproval {
  readonly action: ApprovalAction;
  /** Fields that it holds, by their names in rows. */
  readonly fields: readonly string[];
}

/** More versions than most installations have gates. */
const maxKept = 2_000;

/** Versions by id. They never change, so each is read once in a process. */
export class Gates {
  readonly #registry: Registry;
  readonly #expressions: Pick<Expressions, 'compile'>;
  readonly #kept = new Map<string, Gate>();

  constructor(registry: Registry, expressions: Pick<Expressions, 'compile'>) {
    this.#registry = registry;
    this.#expressions = expressions;
  }

  /** The gates among these versions that concern a kind. */
  async of(work: ChangeWork, ids: readonly string[], { kind }: EntityModule): Promise<Gate[]> {
    const missing = ids.filter((id) => !this.#kept.has(id));
    if (missing.length > 0)
      for (const row of await readGateVersions(work, missing)) {
        const gate = preparedGate(row, this.#registry);
        // Threads begin with the first expression, which takes longer than a change may wait.
        for (const expression of expressionsOf(gate.document))
          await this.#expressions.compile({ expression, environment: environmentOf(gate.module, 'action') });
        this.#keep(gate);
      }
    return ids.flatMap((id) => this.#kept.get(id) ?? []).filter(({ module }) => module.kind === kind);
  }

  #keep(gate: Gate): void {
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= maxKept && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(gate.id, gate);
  }
}

function expressionsOf({ triggers, conditions = [], actions }: DefinitionDocument): string[] {
  const given = [...triggers, ...conditions].map(({ expression }) => expression);
  return [...given, ...actions.map(({ when }) => when)].flatMap((expression) => expression ?? []);
}

/** A version as gates are matched. */
export function preparedGate({ id, definitionId, recordKind, document, name }: GateRow, registry: Registry): Gate {
  const module = registry.byKind(recordKind);
  const approvals = document.actions.flatMap((action): GateApproval[] => {
    if (action.type !== 'REQUEST_APPROVAL') return [];
    return [{ action, fields: heldFieldsOf(module, action.params) }];
  });
  const isSubmittedByHand = document.approvalSubmissionMode === 'MANUAL_SUBMIT';
  return { id, definitionId, name, module, document, approvals, isSubmittedByHand };
}
