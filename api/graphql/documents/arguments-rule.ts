import { GraphQLError, KnownArgumentNamesRule, type ASTVisitor, type ValidationContext } from 'graphql';
import { didYouMean } from '#entities/kit/base/did-you-mean.ts';
import { shortened } from '#entities/kit/base/shortened.ts';

/** Replaces what the rule of GraphQL says about arguments of fields by messages that say which arguments there are, unless the schema is not described. */
export function argumentsRule(context: ValidationContext): ASTVisitor {
  return {
    ...KnownArgumentNamesRule(context),
    Argument: (node) => {
      const field = context.getFieldDef();
      if (!field || context.getArgument()) return;
      const { value: name } = node.name;
      const names = field.args.map((argument) => argument.name);
      const hint = context.hideSuggestions ? '' : ` ${argumentHint(name, names)}`;
      const message = `Unknown argument "${shortened(name)}" on field "${String(field)}".${hint}`;
      context.reportError(new GraphQLError(message, { nodes: node }));
    },
  };
}

function argumentHint(name: string, names: readonly string[]): string {
  if (names.length === 0) return 'It has no arguments.';
  const near = didYouMean(name, names);
  return near === undefined ? `Its arguments are ${names.join(', ')}.` : `Did you mean "${near}"?`;
}
