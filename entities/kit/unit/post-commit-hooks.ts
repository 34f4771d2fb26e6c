type Hook = () => void | Promise<void>;

/** What runs in process after a commit, best effort: the commit stands whatever becomes of it. */
export class PostCommitHooks {
  readonly #hooks: Hook[] = [];

  add(hook: Hook): void {
    this.#hooks.push(hook);
  }

  /** One after the other; failures are reported. */
  async run(report: (error: unknown, doing: string) => void): Promise<void> {
    for (const hook of this.#hooks) {
      try {
        await hook();
      } catch (error) {
        report(error, 'post-commit hook');
      }
    }
  }
}
