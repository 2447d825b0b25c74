#[svc::query]
async fn ping() -> bool {
    let shared = std::rc::Rc::new(true);
    std::future::ready(()).await;
    *shared
}

fn main() {}
