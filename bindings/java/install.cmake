# The jars, and a repository of Maven's form whose files lead to them, for `file:` URLs of Maven and Gradle.
set(java_dir ${CMAKE_INSTALL_DATADIR}/java)
set(maven_dir ${CMAKE_INSTALL_DATADIR}/maven-repo/org/mortise/mortise/${PROJECT_VERSION})
file(RELATIVE_PATH back /${maven_dir} /${java_dir})
file(MAKE_DIRECTORY ${to})
install(FILES pom.xml DESTINATION ${maven_dir} RENAME mortise-${PROJECT_VERSION}.pom COMPONENT java)
foreach(classifier "" -sources -javadoc)
  set(name mortise-${PROJECT_VERSION}${classifier}.jar)
  file(CREATE_LINK ${back}/mortise${classifier}.jar ${to}/${name} SYMBOLIC)
  install(FILES ${to}/mortise${classifier}.jar DESTINATION ${java_dir} COMPONENT java)
  install(FILES ${to}/${name} DESTINATION ${maven_dir} COMPONENT java)
endforeach()
# Maven warns of files without.
install(CODE "
  file(GLOB files \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${maven_dir}/mortise-${PROJECT_VERSION}*[rm]\")
  foreach(file IN LISTS files)
    file(SHA1 \"\${file}\" sum)
    file(WRITE \"\${file}.sha1\" \${sum})
  endforeach()" COMPONENT java)
