import { discussion } from '#entities/work/discussion.ts';
import { note } from '#entities/work/note.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineListener } from '../listener.ts';

/** Deletes a discussion with its last comment: an empty thread has nothing to be read, and nobody would find it to delete it. */
export const removeEmptyDiscussion = defineListener(
  'remove-empty-discussion',
  [on(note, 'left_discussion')],
  async ({ event, unit }) => {
    // Locked, so that a comment that is written meanwhile either keeps the discussion or does not find it any more.
    const found = await unit.data.findLocked(discussion, event.payload.id, 'remove');
    if (!found) return;
    const left = await unit.data.findOne(note, { discussionId: { eq: found.id } });
    if (!left) await unit.data.remove(discussion, found.id);
  },
);
