#[svc::query]
async fn sum(numbers: &[i32]) -> i32 {
    numbers.iter().sum()
}

fn main() {}
