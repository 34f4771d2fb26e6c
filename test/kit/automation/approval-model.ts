/** A small model of approvals: who is asked, who may decide, and when a change is written. It shares no code with the product. */

export type ModelStatus = 'pending' | 'approved' | 'rejected' | 'changes_requested';
export type Verb = 'approved' | 'rejected' | 'changes_requested';

export interface ModelAction {
  readonly key: string;
  /** 0: all. */
  readonly count: number;
  readonly isRequired: boolean;
  readonly dueMs: number | null;
  readonly onDue: 'ESCALATE' | 'REJECT';
  /** People who are asked first. */
  readonly targets: readonly string[];
  /** People who are asked afterwards; null: those who manage. */
  readonly escalateTo: readonly string[] | null;
}

/** Facts about people, which change while a workflow waits. */
export interface Facts {
  readonly author: string;
  readonly managers: readonly string[];
  readonly team: ReadonlySet<string>;
  readonly viewers: ReadonlySet<string>;
  readonly inactive: ReadonlySet<string>;
}

interface Question {
  readonly person: string;
  readonly how: 'target' | 'escalated' | 'delegated' | 'reassigned';
  /** Asked because a deadline passed or nobody else could decide, or instead of such a person. */
  readonly isAdded: boolean;
  /** Person in whose place a delegate decides. */
  readonly place: string | null;
  status: ModelStatus;
  isOpen: boolean;
}

interface Asking {
  readonly action: ModelAction;
  /** All questions of the round, closed ones included. */
  readonly questions: Question[];
  begunAt: number | null;
  isEscalated: boolean;
}

export type ModelEnd = 'completed' | 'rejected' | null;

/** One held change. */
export class ApprovalModel {
  end: ModelEnd = null;
  readonly #actions: readonly ModelAction[];
  #asking: Asking[] = [];

  constructor(actions: readonly ModelAction[]) {
    this.#actions = actions;
    this.newRound();
  }

  /** Other values: everybody is asked again. */
  newRound(): void {
    this.#asking = this.#actions.map((action) => ({ action, questions: [], begunAt: null, isEscalated: false }));
  }

  /** Questions that are open, as `<action>/<person>/<status>`. */
  open(): string[] {
    return this.#asking.flatMap(({ action, questions }) =>
      questions.filter(({ isOpen }) => isOpen).map(({ person, status }) => `${action.key}/${person}/${status}`),
    );
  }

  /** The answer to a person who decides: taken, or the code of the refusal. */
  decide(key: string, person: string, verb: Verb, facts: Facts, now: number): string {
    const asking = this.#of(key);
    const question = asking.questions.findLast((one) => one.person === person);
    if (!question) return 'not_found';
    if (this.end !== null || !question.isOpen || question.status !== 'pending') return 'already_decided';
    if (this.#overdue(asking, now) || ['yes', 'no'].includes(verdict(asking))) return 'already_decided';
    if (!this.#valid(asking, question, facts)) return 'not_found';
    question.status = verb;
    return 'taken';
  }

  /** A person lets another one decide as well (`delegated`), or instead (`reassigned`). */
  handOver(key: string, from: string, to: string, how: 'delegated' | 'reassigned', facts: Facts, now: number): string {
    const asking = this.#of(key);
    const question = asking.questions.findLast((one) => one.person === from);
    if (!question) return 'not_found';
    if (this.end !== null || !question.isOpen || question.status !== 'pending') return 'already_decided';
    if (this.#overdue(asking, now) || ['yes', 'no'].includes(verdict(asking))) return 'already_decided';
    if (!this.#valid(asking, question, facts)) return 'not_found';
    if (!mayDecide(to, facts)) return 'rule_violated';
    if (asking.questions.some((one) => one.isOpen && one.person === to)) return 'rule_violated';
    const place = how === 'delegated' ? (question.place ?? question.person) : question.place;
    const { isAdded } = question;
    asking.questions.push({ person: to, how, isAdded, place, status: 'pending', isOpen: true });
    if (how === 'reassigned')
      for (const one of asking.questions) if (one === question || one.place === from) one.isOpen = false;
    return 'taken';
  }

  /** The workflow looks at what has happened. */
  step(facts: Facts, now: number): void {
    if (this.end !== null) return;
    for (const asking of this.#asking) this.#stepOne(asking, facts, now);
    const verdicts = this.#asking.map((asking) => {
      const counted = verdict(asking);
      return this.#overdue(asking, now) && counted !== 'yes' ? 'no' : counted;
    });
    if (verdicts.includes('no')) this.end = 'rejected';
    else if (verdicts.every((one) => one === 'yes')) this.end = 'completed';
    for (const [n, asking] of this.#asking.entries())
      if (this.end === 'rejected' || verdicts[n] === 'yes')
        for (const one of asking.questions) if (one.status === 'pending') one.isOpen = false;
  }

  #stepOne(asking: Asking, facts: Facts, now: number): void {
    const { action, questions } = asking;
    asking.begunAt ??= now;
    for (const one of questions.filter(({ isOpen }) => isOpen)) one.isOpen = this.#valid(asking, one, facts);
    if (this.#overdue(asking, now)) return;
    const isRejected = questions.some(({ isOpen, status }) => isOpen && status === 'rejected');
    const before = verdict(asking);
    if (before === 'nobody' || (before === 'no' && !isRejected)) {
      ask(
        asking,
        action.targets.filter((person) => facts.team.has(person) && mayDecide(person, facts)),
        'target',
      );
      if (!questions.some(({ isOpen }) => isOpen)) this.#escalate(asking, facts);
    } else if (before === 'open' && this.#isDue(asking, now) && !asking.isEscalated) this.#escalate(asking, facts);
  }

  #escalate(asking: Asking, facts: Facts): void {
    const people = addedPeople(asking.action, facts);
    if (ask(asking, people, 'escalated') > 0) asking.isEscalated = true;
  }

  /** Whether a decision of a person is valid now. */
  #valid(asking: Asking, question: Question, facts: Facts): boolean {
    const { person, how, place } = question;
    if (!mayDecide(person, facts)) return false;
    if (place !== null)
      return asking.questions.some(
        (one) => one.person === place && one.place === null && this.#valid(asking, one, facts),
      );
    if (how === 'target') return facts.team.has(person);
    return how === 'escalated' ? addedPeople(asking.action, facts).includes(person) : true;
  }

  #isDue({ action, begunAt }: Asking, now: number): boolean {
    return action.dueMs !== null && begunAt !== null && now >= begunAt + action.dueMs;
  }

  #overdue(asking: Asking, now: number): boolean {
    return asking.action.onDue === 'REJECT' && this.#isDue(asking, now);
  }

  #of(key: string): Asking {
    return this.#asking.find(({ action }) => action.key === key) as Asking;
  }
}

export function mayDecide(person: string, { author, managers, viewers, inactive }: Facts): boolean {
  const sees = viewers.has(person) || person === managers[0];
  return person !== author && sees && !inactive.has(person);
}

function addedPeople({ escalateTo }: ModelAction, facts: Facts): readonly string[] {
  const named = (escalateTo ?? []).filter((person) => mayDecide(person, facts));
  return named.length > 0 ? named : facts.managers.filter((person) => mayDecide(person, facts));
}

/** Asks those who are not asked. @returns how many */
function ask({ questions }: Asking, people: readonly string[], how: 'target' | 'escalated'): number {
  const added = people.filter((person) => !questions.some((one) => one.isOpen && one.person === person));
  const isAdded = how === 'escalated';
  for (const person of added) questions.push({ person, how, isAdded, place: null, status: 'pending', isOpen: true });
  return added.length;
}

/** `changes`: the author has to edit; `open`: people have to decide. */
function verdict({ action, questions }: Asking): 'yes' | 'no' | 'open' | 'changes' | 'nobody' {
  const open = questions.filter(({ isOpen }) => isOpen);
  if (open.length === 0) return 'nobody';
  const places = [...new Set(open.map(({ person, place }) => place ?? person))].map((holder) => {
    const own = open.filter(({ person, place }) => (place ?? person) === holder);
    const said = (status: ModelStatus) => own.some((one) => one.status === status);
    const isAdded = own.some((one) => one.isAdded);
    if (said('rejected')) return { said: 'rejected', isAdded };
    if (said('changes_requested')) return { said: 'changes', isAdded };
    return { said: said('approved') ? 'approved' : 'pending', isAdded };
  });
  const number = (what: string) => places.filter(({ said }) => said === what).length;
  const first = places.filter(({ isAdded }) => !isAdded).length;
  const all = first === 0 ? places.length : first;
  const needed = action.isRequired ? action.count || all : 1;
  if (action.isRequired && number('rejected') > 0) return 'no';
  if (action.isRequired && number('changes') > 0) return 'changes';
  if (number('approved') >= needed) return 'yes';
  if (number('approved') + number('pending') >= needed) return 'open';
  return number('changes') > 0 ? 'changes' : 'no';
}
