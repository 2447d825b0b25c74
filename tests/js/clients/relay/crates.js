import { graphql } from 'relay-runtime';

export const CRATES = graphql`
  query cratesQuery {
    crates {
      label
    }
  }
`;

export const RESOLVED = graphql`
  query cratesResolvedQuery {
    resolved(n: 7)
  }
`;
