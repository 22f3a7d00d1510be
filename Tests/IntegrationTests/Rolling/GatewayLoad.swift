/// Eight clients that send requests continuously, some of them for new images, until they are
/// stopped.
final class GatewayLoad {
    private let folder = TemporaryDirectory()
    private let run: CommandLineRun

    /// The results of the requests.
    struct Result {
        /// The number of images received.
        var answered = 0
        /// Descriptions of all other results.
        var failed: [String] = []
    }

    /// An independent reader: Python's HTTP client. Each response appends one byte to a file, whose
    /// size the tests wait for.
    private static let script = """
        import http.client, json, os, socket, sys, threading, time
        path, target, folder = sys.argv[1:]
        stop = os.path.join(folder, 'stop')
        count = os.open(os.path.join(folder, 'count'), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        answered, failed = [], []
        class Connection(http.client.HTTPConnection):
            def connect(self):
                self.sock = socket.socket(socket.AF_UNIX)
                self.sock.settimeout(180)
                self.sock.connect(path)
        def ask(first):
            number = first
            while os.path.exists(folder) and not os.path.exists(stop):
                number += 8
                try:
                    connection = Connection('a')
                    connection.request('GET', target.replace('{n}', str(16 + number % 400)))
                    answer = connection.getresponse()
                    body = answer.read()
                    if answer.status == 200 and body[:3] == b'\\xff\\xd8\\xff':
                        answered.append(number)
                    else:
                        failed.append('%d %r' % (answer.status, body[:200]))
                    connection.close()
                except Exception as error:
                    failed.append(repr(error))
                os.write(count, b'.')
        while os.path.exists(folder) and not os.path.exists(path): time.sleep(0.01)
        threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(json.dumps({'answered': len(answered), 'failed': failed[:20]}))
        """

    /// Sends requests to a Unix socket for targets in which `{n}` is replaced by a number.
    init(at socket: String, _ target: String) throws {
        run = try CommandLineRun(
            program: "/usr/bin/python3", ["-c", Self.script, socket, target, folder.path])
    }

    /// Waits until `more` further requests have ended.
    func awaitRequests(_ more: Int) throws {
        let awaited = count + more
        try pollUntil("\(awaited) requests to end", timeout: .seconds(180)) { count >= awaited }
    }

    private var count: Int { FileBytes.read(folder.file("count"))?.count ?? 0 }

    /// Stops the clients and returns the results.
    func end() throws -> Result {
        _ = folder.write([], to: "stop")
        let end = try run.end()
        guard end.exitStatus == 0 else { throw StackFailure("the load: \(end)") }
        let object = try JSONValue(parsing: end.output)
        return Result(
            answered: object["answered"]?.integer ?? 0,
            failed: object["failed"]?.array?.compactMap(\.text) ?? [])
    }
}
