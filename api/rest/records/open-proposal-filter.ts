import { Type } from 'typebox';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import type { Filter } from '#entities/kit/read/filter.ts';
import { proposalsOf } from '#entities/kit/read/relations.ts';

/** Parameter of lists of kinds that workflows know. */
export const openProposalParameter = {
  has_open_proposal: Type.Optional(
    Type.Boolean({
      description: 'Only records of which a change or the deletion waits for approvals, or only the others.',
    }),
  ),
};

/** The filter by whether a proposal about the record is open. */
export function openProposalFilter(registry: Registry, module: EntityModule, wanted: unknown): Filter[] {
  const relation = proposalsOf(registry, module);
  if (!relation || wanted === undefined) return [];
  const open: Filter = { is: 'openProposal', relation };
  return [wanted === true ? open : { is: 'not', filter: open }];
}
