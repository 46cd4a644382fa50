public import FlowBase

/// nginx with TLS and HTTP/2 on 127.0.0.1, and the certificates that go with it, made for the test.
///
/// `/proto` answers with the version of HTTP, `/connection` with the number of the connection, `/me` with the name in
/// the client's certificate or 403, `/asked` with the credentials that came, `/down?port=N` with a redirect to plain
/// http on that port, anything else with its path.
public final class TLSServer: Sendable {
  /// The address of its root, without a slash at the end.
  public let url: String
  /// The certificate of who signed the server's.
  public let authority: String
  /// A client's certificate and its key.
  public let client: (certificate: String, key: String)
  private let place: TempPlace
  private let run: ToolRun

  private static let nginx = "/usr/sbin/nginx"
  private static let openssl = "/usr/bin/openssl"

  /// Whether the programs that it needs are there.
  public static var isThere: Bool { SmallFiles.exists(nginx) && SmallFiles.exists(openssl) }

  /// Makes the certificates and starts nginx; with `hasExpired` its certificate was good until yesterday, and
  /// `directives` are said to nginx as well.
  public init(hasExpired: Bool = false, directives: String = "") async throws(Fault) {
    place = try TempPlace()
    authority = place.file("ca.pem")
    client = (place.file("client.pem"), place.file("client.key"))
    try SmallFiles.create(place.file("names"), Array("subjectAltName=IP:127.0.0.1,DNS:localhost\n".utf8))
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    let commands =
      ["req -x509 \(key) -keyout ca.key -out ca.pem -days 30 -subj /CN=Authority"]
      + ["server", "client"].flatMap { name in
        let days = hasExpired && name == "server" ? -1 : 30
        return [
          "req \(key) -keyout \(name).key -out \(name).csr -subj /CN=\(name)",
          "x509 -req -in \(name).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days \(days) -extfile names -out \(name).pem",
        ]
      }
    var tool = Tool(in: place.path)
    tool.program = [TLSServer.openssl]
    for command in commands {
      let end = await (try tool.start(command.split(separator: " ").map(String.init))).end()
      guard end.code == 0 else { throw Fault("test.openssl", .local, "openssl \(command): \(end.errors)") }
    }
    // A free port; between here and nginx nobody else asks for one on purpose.
    let free = try LoopbackServer { _ in .status(404) }
    let port = free.port
    free.stop()
    url = "https://127.0.0.1:\(port)"
    try SmallFiles.create(place.file("nginx.conf"), Array(TLSServer.configuration(port, place.path, directives).utf8))
    tool.program = [TLSServer.nginx]
    run = try tool.start(["-p", place.path, "-c", "nginx.conf", "-e", place.file("error.log")])
  }

  deinit { run.signal(15) }

  private static func configuration(_ port: Int, _ path: String, _ directives: String) -> String {
    """
    daemon off; master_process off; pid \(path)/pid; error_log \(path)/error.log;
    events { worker_connections 512; }
    http {
      access_log off;
      client_body_temp_path \(path)/t1; proxy_temp_path \(path)/t2; fastcgi_temp_path \(path)/t3;
      uwsgi_temp_path \(path)/t4; scgi_temp_path \(path)/t5;
      server {
        listen 127.0.0.1:\(port) ssl http2;
        ssl_certificate \(path)/server.pem; ssl_certificate_key \(path)/server.key;
        ssl_client_certificate \(path)/ca.pem; ssl_verify_client optional;
        default_type text/plain;
        \(directives)
        location = /proto { return 200 "$server_protocol"; }
        location /connection { return 200 "$connection"; }
        location = /me { if ($ssl_client_verify != SUCCESS) { return 403; } return 200 "$ssl_client_s_dn"; }
        location = /asked { return 200 "$http_authorization|$http_proxy_authorization"; }
        location = /down { return 302 http://127.0.0.1:$arg_port/plain; }
        location / { return 200 "$uri"; }
      }
    }
    """
  }
}
