import { GraphQLError, type ASTVisitor, type ValidationContext, type ValidationRule } from 'graphql';

const questions = new Set(['__schema', '__type']);

/**
 * While `server.dev` is off, the server does not describe its schema, which is printed in `api/graphql/schema/`, and its errors give no hints: the answer is large,
 * and nobody needs it at run time. `__typename` is answered always.
 */
export function introspectionRules(isDevelopment: boolean): readonly ValidationRule[] {
  return isDevelopment ? [] : [noIntrospectionRule];
}

function noIntrospectionRule(context: ValidationContext): ASTVisitor {
  return {
    Field: (node) => {
      if (!questions.has(node.name.value)) return;
      const message = `This server does not answer ${node.name.value} (server.dev is off); the schema is in api/graphql/schema.`;
      context.reportError(new GraphQLError(message, { nodes: node }));
    },
  };
}
