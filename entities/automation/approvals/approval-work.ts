import type { EntityModule, RowOf } from '../../kit/model/define.ts';
import type { DataClient } from '../../kit/unit/data-client.ts';
import type { UnitOfWork } from '../../kit/unit/unit-of-work.ts';
import type { workflowAssignment } from '../workflow-assignment.ts';
import type { workflowInstance } from '../workflow-instance.ts';

/** A unit of work in the organization of an instance, and records with the rights of the server. */
export interface ApprovalWork {
  readonly unit: UnitOfWork;
  readonly data: DataClient;
}

export type Instance = RowOf<typeof workflowInstance>;
export type Assignment = RowOf<typeof workflowAssignment>;
export type Row = Readonly<Record<string, unknown>>;

/** A held change (`model/derived/proposal.ts`), whatever its kind. */
export interface Proposal extends Row {
  readonly id: string;
  readonly organizationId: string;
  readonly recordVersion: number;
  readonly createdBy: string;
  readonly updatedBy: string;
  readonly definitionId: string;
  readonly instanceId: string | null;
  readonly trigger: 'update' | 'delete';
  /** Proposed values by the names of the fields. */
  readonly changes: Row;
  /** Values of the same fields when the change was submitted. */
  readonly baseValues: Row;
  readonly hash: string;
  readonly openKey: string | null;
  readonly revision: number;
  readonly status: 'draft' | 'submitted' | 'applied' | 'rejected' | 'withdrawn';
  readonly submitterId: string | null;
  readonly submitterTokenId: string | null;
}

/** An instance that is locked until the end of the transaction, with its record and its proposal. */
export interface LockedInstance {
  readonly instance: Instance;
  /** Kind of the record. */
  readonly module: EntityModule;
  /** Undefined: the record is deleted. */
  readonly record: Row | undefined;
  /** Undefined for an instance about a change that is written. */
  readonly held?: HeldProposal;
}

export interface HeldProposal {
  readonly module: EntityModule;
  /** Undefined: it was deleted with its record. */
  readonly proposal: Proposal | undefined;
}
