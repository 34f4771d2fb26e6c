import type { Work } from '../storage/work.ts';
import type { ProviderName } from './stored-object.ts';

/** How many objects of a provider have copies. */
export interface CopyCounts {
  readonly provider: ProviderName;
  /** Objects that records own. */
  readonly objects: number;
  readonly verified: number;
  readonly failed: number;
  /** Copies that wait or are being made. */
  readonly due: number;
}

export function countCopies(work: Work): Promise<CopyCounts[]> {
  return work.rowsAsSystem<CopyCounts>(
    `select o.provider, count(*)::int as objects, count(*) filter (where c.state = 'verified')::int as verified,
       count(*) filter (where c.state = 'failed')::int as failed,
       count(*) filter (where o.copy_due_at is not null and c.state is distinct from 'failed')::int as due
     from stored_objects o left join object_copies c on c.object_id = o.id where o.state = 'owned' group by 1 order by 1`,
  );
}

/** Why objects have no verified copy. */
interface CopyProblem {
  readonly objectId: string;
  readonly problem: string;
}

export function copyProblems(work: Work, limit: number): Promise<CopyProblem[]> {
  return work.rowsAsSystem<CopyProblem>(
    `select object_id as "objectId", problem from object_copies where state = 'failed' order by changed_at desc limit $1`,
    [limit],
  );
}
