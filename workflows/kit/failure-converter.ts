import { DefaultFailureConverter } from '@temporalio/common';

/** Messages and stacks of failures go through the payload codec too: they may repeat what they failed on. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
