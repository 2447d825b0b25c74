//! All waiting responses.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;

use slab::Slab;

use super::kept::Answer;

/// All waiting responses.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    answers: Slab<Answer>,
    /// The number of waiting responses at each address.
    addresses: HashMap<IpAddr, usize>,
}

impl Waiting {
    /// Adds a response; the key is for [`Waiting::remove`].
    pub(super) fn add(&mut self, answer: Answer) -> usize {
        if let Some(address) = answer.address {
            *self.addresses.entry(address).or_default() += 1;
        }
        self.answers.insert(answer)
    }

    pub(super) fn remove(&mut self, key: usize) -> Answer {
        let answer = self.answers.remove(key);
        if let Some(address) = answer.address
            && let Entry::Occupied(mut number) = self.addresses.entry(address)
        {
            *number.get_mut() -= 1;
            if *number.get() == 0 {
                number.remove();
            }
        }

        answer
    }

    pub(super) fn answers(&mut self) -> impl Iterator<Item = &mut Answer> {
        self.answers.iter_mut().map(|(_, answer)| answer)
    }

    /// Whether a response waits for a client at the address.
    pub(super) fn is_any_at(&self, address: IpAddr) -> bool {
        self.addresses.contains_key(&address)
    }
}
