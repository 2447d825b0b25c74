import { graphql } from './gql';

export const CRATES = graphql(`
  query Crates {
    crates {
      label
    }
  }
`);

export const RESOLVED = graphql(`
  query Resolved {
    resolved(n: 7)
  }
`);
