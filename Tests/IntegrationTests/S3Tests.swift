extension RealProcesses {
    /// A whole stack in front of an S3 server that checks signatures.
    @Suite(.enabled(if: S3Server.path != nil, "scripts/s3-server gets the server"))
    struct S3Tests {
        private let folder = TemporaryDirectory()

        /// A thousand with `IMAGEBUS_LONG=1`.
        private static let count = CurrentProcess.environment("IMAGEBUS_LONG") == "1" ? 1_000 : 50

        private func configuration(
            _ server: S3Server, secret: String, match pattern: String = "s3://photos/*"
        ) -> String {
            let profile = S3Server.profileFile.replacing(S3Server.secretAccessKey, with: secret)
            let credentials = folder.write(profile, to: "credentials")
            return folder.write(
                """
                loaders:
                  store:
                    kind: s3
                    endpoint: \(server.endpoint)
                    region: eu-central-1
                    credentials: \(credentials)
                    allow-addresses: ["\(server.address)"]
                    match: \(pattern)

                """, to: "imagebus.yaml")
        }

        @Test func allObjectsOfABucketAreLoaded() async throws {
            let server = try S3Server()
            try Tool.run(["mkdir", "-p", server.folder.file("photos/set 1")])
            let image = try Images.waves(width: 64, height: 48).jpeg(quality: 80)
            // A JPEG may be followed by arbitrary bytes, so each object is different.
            let bytes = (0..<Self.count).map { image + Array("object \($0)".utf8) }
            for (number, object) in bytes.enumerated() {
                server.folder.write(object, to: "photos/set 1/\(number) + ü.jpg")
            }
            let path = configuration(server, secret: S3Server.secretAccessKey)
            try await withClient(["--config", path]) { stack, client in
                let tasks = (0..<Self.count).map { number in
                    client.load("s3://photos/set%201/\(number)%20+%20%C3%BC.jpg")
                }
                for (number, task) in tasks.enumerated() {
                    let response = try await task.response
                    #expect(response.bytes?.array == bytes[number], "object \(number)")
                    #expect(response.cacheType == .none)
                }
                let again = try await client.load("s3://photos/set%201/0%20+%20%C3%BC.jpg").response
                #expect(again.cacheType == .memory)
                // Clients can't connect to the loader's endpoint directly.
                let other = try stack.get(["\(server.endpoint)/photos/set%201/1.jpg", "--json"])
                #expect(try other.json()["error"]?["name"]?.text == "addressForbidden")
            }
        }

        /// Google Cloud Storage supports the S3 protocol, here at an endpoint on this machine.
        @Test func aGatewayReadsBucketsOfGoogle() async throws {
            let server = try S3Server()
            try Tool.run(["mkdir", "-p", server.folder.file("photos/a")])
            server.folder.write(
                try Images.waves(width: 64, height: 48).jpeg(quality: 80), to: "photos/a/b.jpg")
            let path = configuration(
                server, secret: S3Server.secretAccessKey, match: "gs://photos/*")
            try await withGateway(stack: ["--config", path]) { gateway, _ in
                let answer = try gateway.get("/unsafe/w:32/plain/gs://photos/a/b.jpg@png")
                #expect(answer.status == 200, "\(answer.head)")
                #expect(try Pixels(decoding: answer.body).size == "32x24")
                let missing = try gateway.get("/unsafe/w:32/plain/gs://photos/none.jpg@png")
                #expect(missing.status == 404, "\(missing.head)")
                let elsewhere = try gateway.get("/unsafe/w:32/plain/gs://other/a/b.jpg@png")
                #expect(elsewhere.status != 200, "\(elsewhere.head)")
            }
        }

        /// A secret appears nowhere but in its file: neither in error messages nor in logs.
        @Test func aWrongSecretIsTheServersRefusalAndIsNowhereElse() async throws {
            let server = try S3Server()
            try Tool.run(["mkdir", "-p", server.folder.file("photos")])
            server.folder.write([1], to: "photos/a.jpg")
            let path = configuration(server, secret: "WRONGSECRET12345")
            try await withStack(["--config", path, "--log-level", "debug"]) { stack in
                let end = try stack.get(["s3://photos/a.jpg", "--json", "--explain"])
                let error = try end.json()["error"]
                #expect(error?["details"]?["httpStatus"]?.text == "403")
                #expect(!"\(end)".contains("WRONGSECRET12345"))
                let status = try stack.run(["status", "--json"])
                #expect(!"\(status)".contains("WRONGSECRET12345"))
                let log = try Tool.run(["cat", stack.logFile])
                #expect(!log.isEmpty)
                #expect(!String(decoding: log, as: UTF8.self).contains("WRONGSECRET12345"))
            }
        }
    }
}
