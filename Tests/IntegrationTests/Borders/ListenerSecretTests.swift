import Wire

extension RealProcesses {
    /// If all processes run as one user, no listener except `front/` accepts a hello on the basis
    /// of that user alone.
    @Suite struct ListenerSecretTests {
        @Test func aListenerTakesItsOwnSecretAlone() async throws {
            try await withStack(decoders: 1) { stack in
                let others = try WorkerKind.workers.map {
                    try #require(try stack.listenerSecret($0))
                }
                #expect(Set(others).count == others.count)
                let mine = ListenerSecret(Random.bytes(count: ListenerSecret.byteCount))
                for (kind, own) in zip(WorkerKind.workers, others) {
                    for wrong in [nil, mine] + others where wrong != own {
                        try expectRefusal(of: workerHello(wrong), at: stack.backSocket(kind))
                    }
                }
                for wrong in [nil, mine] + others {
                    try expectRefusal(of: operatorHello(wrong), at: stack.adminSocket)
                }
                _ = try WireWorker(.decode, stack, credit: 1)
                let report = try await stack.awaitStatus("the stack as it was") {
                    $0.processes.filter { $0.state == "ready" }.count >= 4
                }
                #expect(report.counter("expelledWorkers") == 0)
                #expect(try stack.run(["health"]).exitStatus == 0)
            }
        }

        @Test func whoIsStartedAgainIsKnownAgain() async throws {
            try await withStack(decoders: 1) { stack in
                let secret = try stack.listenerSecret(.decode)
                let before = try await stack.awaitStatus("all processes") {
                    $0.processes.count == 5
                }
                for kind in [WorkerKind.coordinator, .decode] {
                    try stack.child(#require(before.processes(kind).first)).kill()
                }
                let old = Set(before.processes.map(\.pid))
                _ = try await stack.awaitStatus("a new coordinator and a new decoder") { report in
                    report.processes.count == 5
                        && Set(report.processes.map(\.pid)).subtracting(old).count == 2
                        && report.processes(.decode).allSatisfy { $0.state == "ready" }
                }
                #expect(try stack.listenerSecret(.decode) == secret)
                try expectRefusal(of: workerHello(nil), at: stack.backSocket(.decode))
                try expectRefusal(of: operatorHello(nil), at: stack.adminSocket)
            }
        }

        @Test func onlyServeKeepsSecretsAndOperatorsHaveAFileForTheirUser() async throws {
            try await withStack(decoders: 1) { stack in
                _ = try await stack.awaitStatus("all processes") { $0.processes.count == 5 }
                #expect(StackHarness.secretPaths(of: stack.processID).count == 5)
                for child in stack.children {
                    #expect(StackHarness.secretPaths(of: child.processID) == [], "\(child.name)")
                }
                let file = "\(stack.runtimeDirectory)/admin/secret"
                let status = try FileDescriptor.open(file).status()
                #expect(status.mode & 0o777 == 0o600)
                #expect(status.size == ListenerSecret.byteCount)
                try stack.stop()
                #expect(DirectoryEntries.names("\(stack.runtimeDirectory)/admin") == [])
            }
        }

        @Test func oneKindAloneAsksForNothing() async throws {
            try await withStack(["--only", "coordinator"]) { stack in
                #expect(DirectoryEntries.names("\(stack.runtimeDirectory)/admin") == ["admin.sock"])
                let worker = try answer(to: workerHello(nil), at: stack.backSocket(.transform))
                #expect(worker.header.kind == .workerWelcome)
                let client = try answer(to: operatorHello(nil), at: stack.adminSocket)
                #expect(client.header.kind == .clientWelcome)
                #expect(try stack.run(["status"]).exitStatus == 0)
            }
        }

        @Test func aWorkerOfAnotherServeIsToldWhyItIsNotLetIn() async throws {
            try await withStack(decoders: 1) { stack in
                let end = try stack.run(["serve", "--only", "decode", "--decode", "1"])
                #expect(end.exitStatus == 78, "\(end)")
                #expect(end.errorText.contains("the coordinator refused this worker: "))
                #expect(end.errorText.contains("this stack starts its own decode workers"))
                #expect(end.errorText.contains("serve --only coordinator"), "what to do")
            }
        }

        @Test func anOperatorWithoutTheFileIsToldWhatIsMissing() async throws {
            try await withStack(decoders: 1) { stack in
                try FileDescriptor.openDirectory("\(stack.runtimeDirectory)/admin").unlink("secret")
                let end = try stack.run(["status"])
                #expect(end.exitStatus != 0, "\(end)")
                #expect(end.errorText.contains("requires the secret in admin/secret"), "\(end)")
                #expect(try stack.run(["health"]).exitStatus != 0)
            }
        }

        // MARK: - Hellos

        private func expectRefusal(of hello: [[UInt8]], at path: String) throws {
            let (header, body) = try answer(to: hello, at: path)
            var decoder = MessageDecoder()
            guard header.kind == .refused,
                case .refused(let error, nil) = try decoder.serverMessage(
                    header.kind, body.span.bytes)
            else {
                Issue.record("\(header.kind) came at \(path)")
                return
            }
            #expect(error.code == .addressForbidden)
        }

        private func answer(
            to hello: [[UInt8]], at path: String
        ) throws -> (header: FrameHeader, body: [UInt8]) {
            let peer = try WirePeer(path)
            try peer.send(hello)
            let frames = try #require(try peer.receive(within: defaultTimeout))
            let head = frames[0]
            return (try FrameHeader(decoding: head.span.bytes), frames[1])
        }

        private func workerHello(_ secret: ListenerSecret?) throws -> [[UInt8]] {
            var encoder = MessageEncoder()
            let hello = WorkerHello(
                incarnation: Incarnation(.random), pid: UInt32(CurrentProcess.processID),
                restarts: 0, version: "test", credit: 1, secret: secret)
            let encoded = try encoder.encode(WorkerMessage.hello(hello))
            return [encoded.header.bytes, encoder.packed()]
        }

        private func operatorHello(_ secret: ListenerSecret?) throws -> [[UInt8]] {
            var encoder = MessageEncoder()
            let hello = ClientHello(
                incarnation: Incarnation(.random), pid: UInt32(CurrentProcess.processID),
                version: "test", secret: secret)
            let encoded = try encoder.encode(ClientMessage.hello(hello))
            return [encoded.header.bytes, encoder.packed()]
        }
    }
}
