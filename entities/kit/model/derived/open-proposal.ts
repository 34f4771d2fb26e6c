/**
 * Field of the records of kinds that workflows know. It is stored nowhere: it follows from the proposals about the record, which open and
 * end without a new version of it.
 */
export const openProposalField = {
  name: 'hasOpenProposal',
  description:
    'Whether a change or the deletion of the record waits for approvals, as far as the caller views its proposals; false while workflows are off.',
} as const;
