type Hook = () => void | Promise<void>;

/** Hooks that run in this process after a commit, best effort: their failures do not affect the commit. */
export class PostCommitHooks {
  readonly #hooks: Hook[] = [];

  add(hook: Hook): void {
    this.#hooks.push(hook);
  }

  /** Runs the hooks one after the other and reports failures. */
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
