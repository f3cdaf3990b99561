//! A client of the official Rust SDK that keeps calls in flight, one task each.
//!
//!     client ERA COMMAND…      ERA is 2025-11-25 or 2026-07-28
//!
//! It calls `echo` once and prints the text. Then each line `WINDOW CALLS` on its stdin makes it call, and print the
//! nanoseconds that they took together.

use std::env::args;
use std::error::Error;
use std::io::stdin;
use std::time::Instant;

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientLifecycleMode, ClientServiceExt, Peer, RoleClient};
use tokio::process::Command;
use tokio::task::JoinSet;

async fn call(peer: &Peer<RoleClient>) -> String {
    let arguments = serde_json::Map::from_iter([("text".to_owned(), "hello".into())]);
    let params = CallToolRequestParams::new("echo").with_arguments(arguments);
    let result = peer.call_tool(params).await.expect("the call is answered");
    let block = result.content[0].as_text().expect("the answer is a text");
    block.text.clone()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = args().skip(1).collect();
    let mut command = Command::new(&arguments[1]);
    command.args(&arguments[2..]);
    let mode = if arguments[0] == "2025-11-25" {
        ClientLifecycleMode::Initialize
    } else {
        ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        }
    };
    let service = ().serve_with_lifecycle(TokioChildProcess::new(command)?, mode).await?;
    println!("{}", call(service.peer()).await);
    for line in stdin().lines() {
        let line = line?;
        let (window, calls) = line.split_once(' ').ok_or("WINDOW CALLS")?;
        let (window, calls): (usize, usize) = (window.parse()?, calls.parse()?);
        let began = Instant::now();
        let mut tasks = JoinSet::new();
        for _ in 0..window {
            let peer = service.peer().clone();
            tasks.spawn(async move {
                for _ in 0..calls / window {
                    assert_eq!(call(&peer).await, "hello");
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done?;
        }
        println!("{}", began.elapsed().as_nanos());
    }
    service.cancel().await?;
    Ok(())
}
